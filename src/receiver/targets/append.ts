import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { outputError } from '../../files/failure.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { lock } from '../../files/lock.ts';
import type { TargetResult, Target } from './target.ts';

/** Names the file in the inbox. */
export const outputTarget = (path: string): string => `output ${resolve(path)}`;

/**
 * `--output FILE`: appends each lead on a line of its own; the line is on disk when `hand` resolves. Lines that arrive
 * while others are being synced share the next sync. Throws an `OutputError` when the file cannot be opened.
 */
export async function appendTo(
  path: string,
  context: Pick<Context, 'pid' | 'clock' | 'signal'>,
): Promise<Target> {
  await mkdir(dirname(resolve(path)), { recursive: true }).catch((error: unknown) => {
    throw outputError(error as NodeJS.ErrnoException, path);
  });
  // Lines go to places that are reckoned here, so nobody else may write at the same time.
  const held = await lock(resolve(path), context);
  const file = await openMended(resolve(path));
  const queue = new Appender(file);
  return {
    name: outputTarget(path),
    async deliver({ lead }): Promise<TargetResult> {
      const started = performance.now();
      const done = (ok: boolean, answer: string): TargetResult => ({
        to: 'output',
        ok,
        answer,
        durationMs: Math.round(performance.now() - started),
      });
      try {
        await queue.append(Buffer.concat([lead.bytes, Buffer.from('\n')]));
        return done(true, 'written');
      } catch (error) {
        return done(false, outputError(error as NodeJS.ErrnoException, path).message);
      }
    },
    async close() {
      await file.close();
      await held.release();
    },
  };
}

/** A process that was killed while it wrote leaves half a line: it goes, since its lead was never acknowledged. */
async function openMended(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const { size } = await file.stat();
    const end = await endOfLastLine(file, size);
    if (end < size) {
      await file.truncate(end);
      await file.sync();
    }
    return file;
  } catch (error) {
    throw outputError(error as NodeJS.ErrnoException, path);
  }
}

async function endOfLastLine(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

class Appender {
  readonly #file: FileHandle;
  readonly #group = new GroupCommit<Uint8Array, void>(async (lines) => {
    await this.#write(Buffer.concat(lines));
    return lines.map(() => undefined);
  });
  #end: number | undefined;
  /** Set when the file could not be cut back: what failed first is what every later line is told. */
  #failure: Error | undefined;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Resolves when the line is on disk. */
  append(line: Uint8Array): Promise<void> {
    return this.#group.add(line);
  }

  /** After a failure the file is cut back to where it was whole: a part of a line must not stay in its middle. */
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
