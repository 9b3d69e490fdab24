import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOutputErrors } from '../files/errors.ts';
import { chunksOf, linesIn } from '../files/read.ts';
import type { RecordBytes } from '../output/records/record-types.ts';

const newline = 0x0a;
const memoryLimit = 1024 * 1024;

/**
 * Records that wait until all are known: in memory while they are few, then in an unlinked temporary file. They are copied
 * into one buffer, since a record's memory may be a part of a page's, and a million small buffers are a lot of garbage.
 */
export class TemporaryRecords {
  #waiting = Buffer.alloc(0);
  #used = 0;
  #file: FileHandle | undefined;

  /** Adds one record, given in parts. Resolves to nothing, and at once, as long as there is room. */
  append(...parts: readonly Uint8Array[]): Promise<void> | undefined {
    const length = parts.reduce((sum, { length: part }) => sum + part, 1);
    if (this.#used + length > this.#waiting.length) this.#makeRoom(length);
    for (const part of parts) {
      this.#waiting.set(part, this.#used);
      this.#used += part.length;
    }
    this.#waiting[this.#used] = newline;
    this.#used += 1;
    return this.#used > memoryLimit ? this.#writeToFile() : undefined;
  }

  records(): AsyncGenerator<readonly RecordBytes[], void, undefined> {
    return linesIn(this.#chunks());
  }

  async close(): Promise<void> {
    this.#waiting = Buffer.alloc(0);
    this.#used = 0;
    await this.#file?.close();
    this.#file = undefined;
  }

  async *#chunks(): AsyncGenerator<Buffer, void, undefined> {
    if (this.#file !== undefined) {
      await this.#writeToFile();
      yield* chunksOf(this.#file, 0);
    } else if (this.#used > 0) yield this.#waiting.subarray(0, this.#used);
  }

  #makeRoom(length: number): void {
    const room = Buffer.allocUnsafeSlow(Math.max(2 * this.#waiting.length, this.#used + length, 1024));
    room.set(this.#waiting.subarray(0, this.#used));
    this.#waiting = room;
  }

  async #writeToFile(): Promise<void> {
    const bytes = this.#waiting.subarray(0, this.#used);
    this.#used = 0;
    await withOutputErrors(tmpdir(), async () => {
      this.#file ??= await openUnlinked();
      await this.#file.writeFile(bytes);
    });
  }
}

/** A file without a name is gone when the process ends, however it ends. Windows keeps the name until then. */
async function openUnlinked(): Promise<FileHandle> {
  const path = join(tmpdir(), `leads-${randomBytes(16).toString('hex')}`);
  const file = await open(path, 'wx+', 0o600);
  // At once: a process that is killed in between leaves it.
  rmSync(path, { force: true });
  return file;
}
