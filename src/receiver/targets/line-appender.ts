import type { FileHandle } from 'node:fs/promises';
import { GroupCommit } from '../../files/group-commit.ts';

/** Appends lines durably to a file that nobody else writes to: lines that arrive during one sync share the next. */
export class LineAppender {
  readonly #file: FileHandle;
  readonly #group = new GroupCommit<Uint8Array, void>(async (lines) => {
    await this.#write(Buffer.concat(lines));
    return lines.map(() => undefined);
  });
  #end: number | undefined;
  /** Set when the file could not be cut back: every later line is rejected with what failed first. */
  #failure: Error | undefined;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Resolves when the line, which ends with a line feed, is on disk. */
  append(line: Uint8Array): Promise<void> {
    return this.#group.add(line);
  }

  /** After a failure the file is cut back to its last whole line: a part of a line must not stay in the middle. */
  async #write(lines: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#end ??= (await this.#file.stat()).size;
    try {
      for (let done = 0; done < lines.length;) {
        const { bytesWritten } = await this.#file.write(lines, done, undefined, this.#end + done);
        done += bytesWritten;
      }
      await this.#file.datasync();
      this.#end += lines.length;
    } catch (error) {
      await this.#file.truncate(this.#end).catch(() => (this.#failure = error as Error));
      throw error;
    }
  }
}
