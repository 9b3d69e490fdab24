import { constants, type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from './errors.ts';

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
    await this.#unlessFailed(async () => {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#size);
        done += bytesWritten;
        this.#size += bytesWritten;
      }
    });
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
