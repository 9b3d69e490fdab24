import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOutputErrors } from '../files/output-error.ts';
import { linesIn } from '../files/lines.ts';
import type { RecordBytes } from './records.ts';

const newline = Buffer.from('\n');
const memoryLimit = 1024 * 1024;

/** Records that wait until all have come: in memory while they are few, then in a nameless temporary file. */
export class Spool {
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #file: FileHandle | undefined;

  static open(): Promise<Spool> {
    return Promise.resolve(new Spool());
  }

  async write(records: readonly RecordBytes[]): Promise<void> {
    for (const { bytes } of records) {
      // Copied: a record's memory may be a part of a page's, or be used again for the next ones.
      this.#held.push(Buffer.from(bytes), newline);
      this.#heldBytes += bytes.length + 1;
      if (this.#heldBytes > memoryLimit) await this.#store();
    }
  }

  async *records(): AsyncGenerator<readonly RecordBytes[], void, undefined> {
    if (this.#file !== undefined) {
      await this.#store();
      const stream = this.#file.createReadStream({ start: 0, autoClose: false, highWaterMark: memoryLimit });
      yield* linesIn(stream as AsyncIterable<Buffer>);
      return;
    }
    yield this.#held.filter((piece) => piece !== newline).map((bytes) => ({ bytes }));
  }

  async close(): Promise<void> {
    this.#held = [];
    await this.#file?.close();
    this.#file = undefined;
  }

  async #store(): Promise<void> {
    const pieces = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    await withOutputErrors(tmpdir(), async () => {
      this.#file ??= await nameless();
      await this.#file.writeFile(pieces);
    });
  }
}

/** Without a name nothing is left behind, whatever ends the process. Windows keeps the name until the end. */
async function nameless(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'leads-'));
  const file = await open(join(directory, 'spool'), 'wx+', 0o600);
  await rm(directory, { recursive: true, force: true });
  return file;
}
