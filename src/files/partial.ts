import { createHash } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from './errors.ts';
import { chunksOf, maxChunkBytes } from './read.ts';

/**
 * A file that is written from the start to the end, until another step gives it its name. A crash may cut it anywhere, but
 * bytes written before a successful `sync` are on disk. After one failed write or sync every further step fails: the system
 * may have dropped bytes, and a later sync would still succeed.
 */
export class PartialFile {
  readonly path: string;
  readonly #file: FileHandle;
  #size: number;
  #failure: Error | undefined;

  private constructor(path: string, file: FileHandle, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  /** Creates the file, or empties an existing one, but never one that is a link. `mode` is for a new file. */
  static create(path: string, mode?: number): Promise<PartialFile> {
    const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
    return withOutputErrors(
      path,
      async () => new PartialFile(path, await open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, mode), 0),
    );
  }

  /** Continues after the first `size` bytes of a file that has as many, and truncates it there. */
  static async resume(path: string, size: number): Promise<PartialFile> {
    const file = await withOutputErrors(path, () => open(path, 'r+'));
    try {
      await withOutputErrors(path, () => file.truncate(size));
    } catch (error) {
      await file.close();
      throw error;
    }
    return new PartialFile(path, file, size);
  }

  get size(): number {
    return this.#size;
  }

  get handle(): FileHandle {
    return this.#file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#unlessFailed(() => writeAt(this.#file, bytes, this.#size));
    this.#size += bytes.length;
  }

  async sync(): Promise<void> {
    await this.#unlessFailed(() => this.#file.sync());
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #unlessFailed(step: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await withOutputErrors(this.path, step);
    } catch (error) {
      this.#failure = error as Error;
      throw error;
    }
  }
}

/**
 * Makes a file consist of its first `base` bytes and of `source`, durably. It can be repeated after a crash, which may leave a
 * beginning of `source` there. Resolves with false, and writes nothing, when another program has changed the file: it is
 * shorter than `base`, or has other bytes after it.
 */
export function appendDurably(path: string, base: number, source: FileHandle): Promise<boolean> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      if ((await file.stat()).size < base || !(await endsWithBeginningOf(source, file, base))) return false;
      let position = base;
      for await (const chunk of chunksOf(source, 0)) {
        await writeAt(file, chunk, position);
        position += chunk.length;
      }
      await file.sync();
      return true;
    } finally {
      await file.close();
    }
  });
}

/** A crash of the whole machine may leave zeros in place of the last written bytes, so those count as a beginning too. */
async function endsWithBeginningOf(source: FileHandle, file: FileHandle, from: number): Promise<boolean> {
  let offset = 0;
  const expected = Buffer.allocUnsafe(maxChunkBytes);
  for await (const chunk of chunksOf(file, from)) {
    let length = 0;
    while (length < chunk.length) {
      const { bytesRead } = await source.read(expected, length, chunk.length - length, offset + length);
      const isSourceShorter = bytesRead === 0;
      if (isSourceShorter) return false;
      length += bytesRead;
    }
    const isSame = chunk.equals(expected.subarray(0, length));
    if (!isSame && !chunk.every((byte, i) => byte === expected[i] || byte === 0)) return false;
    offset += length;
  }
  return true;
}

export async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

export async function sha256From(file: FileHandle, start: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(file, start)) hash.update(chunk);
  return hash.digest('hex');
}
