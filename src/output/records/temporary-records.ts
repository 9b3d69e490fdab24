import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOutputErrors } from '../../files/output-error.ts';
import { linesIn } from '../../files/read.ts';
import type { RecordBytes } from './record-types.ts';

const newline = Buffer.from('\n');
const memoryLimit = 1024 * 1024;

/** Records that wait until all are known: in memory while they are few, then in an unlinked temporary file. */
export class TemporaryRecords {
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #file: FileHandle | undefined;

  async write(records: readonly RecordBytes[]): Promise<void> {
    for (const { bytes } of records) {
      // Copied: a record's memory may be a part of a page's, or be used again for the next ones.
      this.#waiting.push(Buffer.from(bytes), newline);
      this.#waitingBytes += bytes.length + 1;
      if (this.#waitingBytes > memoryLimit) await this.#writeToFile();
    }
  }

  async *records(): AsyncGenerator<readonly RecordBytes[], void, undefined> {
    if (this.#file !== undefined) {
      await this.#writeToFile();
      const stream = this.#file.createReadStream({ start: 0, autoClose: false, highWaterMark: memoryLimit });
      yield* linesIn(stream as AsyncIterable<Buffer>);
      return;
    }
    yield this.#waiting.filter((piece) => piece !== newline).map((bytes) => ({ bytes }));
  }

  async close(): Promise<void> {
    this.#waiting = [];
    await this.#file?.close();
    this.#file = undefined;
  }

  async #writeToFile(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
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
