import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { type Lock, lock } from '../../files/lock.ts';
import { makeDirectory } from '../../files/modes.ts';
import { fileKeepsVanishing, withOutputErrors } from '../../files/errors.ts';
import { regularFile } from '../../files/output-place.ts';
import { syncDirectory } from '../../files/replace.ts';
import type { ReceiverNote } from '../errors.ts';
import type { Target } from './target.ts';

/** The name of the target in the inbox. With `host`, a path on each of several machines that share an inbox is a target of its own. */
export const appendTargetName = (path: string, host: string | undefined): string =>
  ['output', host, resolve(path)].filter((part) => part !== undefined).join(' ');

interface AppendTargetOptions extends Pick<Context, 'pid' | 'clock' | 'signal'> {
  readonly note: (note: ReceiverNote) => void;
  readonly host?: string | undefined;
}

/**
 * Appends each lead on a line of its own; the line is on disk, in the file at `path`, when `deliver` resolves. Throws an
 * `OutputError` when the file cannot be opened or another receiver writes to it.
 */
export async function openAppendTarget(path: string, options: AppendTargetOptions): Promise<Target> {
  const file = new LineFile(resolve(path), options);
  await file.open();
  const group = new GroupCommit<Uint8Array, void>(async (lines) => {
    await file.append(Buffer.concat(lines));
    return lines.map(() => undefined);
  });
  return {
    name: appendTargetName(path, options.host),
    concurrency: mostLines,
    async deliver({ leads }) {
      const started = performance.now();
      const lines = leads.flatMap(({ lead }) => [lead.bytes, lineFeed]);
      const failure = await group.add(Buffer.concat(lines)).then(() => undefined, messageOf);
      const durationMs = Math.round(performance.now() - started);
      if (failure === undefined) return { to: 'output', ok: true, answer: 'written', durationMs };
      return { to: 'output', ok: false, answer: failure, durationMs, isDown: true };
    },
    reopen: () => file.reopen(),
    close: () => file.close(),
  };
}

/** Lines that are written at the same time, so that they share a sync. */
const mostLines = 256;

const appending = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

const lineFeedByte = 0x0a;
export const lineFeed = Buffer.of(lineFeedByte);

/** Others may remove or cut the file while lines are written to it: the lost ones are written again so often. */
const mostRewrites = 10;

/**
 * The open file, with its size and last line as this process knows them. The line is open where it has no line feed: another
 * program wrote it, or it could not be cut off.
 */
interface OpenFile {
  readonly handle: FileHandle;
  size: number;
  isLineOpen: boolean;
}

/**
 * A file of lines at a path that others may rename, remove or truncate at any time: lines go to the file that has the
 * path, after whatever it holds then. Where there is another file, that one is opened and locked before the next lines.
 */
class LineFile {
  readonly #path: string;
  readonly #options: AppendTargetOptions;
  #lock: Lock | undefined;
  #file: OpenFile | undefined;
  #mustReopen = false;

  constructor(path: string, options: AppendTargetOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    await withOutputErrors(this.#path, () => this.#openAtPath());
  }

  reopen(): void {
    this.#mustReopen = true;
  }

  async close(): Promise<void> {
    await this.#file?.handle.close();
    this.#file = undefined;
    await this.#lock?.release();
  }

  append(lines: Uint8Array): Promise<void> {
    return withOutputErrors(this.#path, async () => {
      let unwritten = lines;
      for (let rewrites = 0; rewrites <= mostRewrites; rewrites += 1) {
        const file = await this.#openAtPath();
        await write(file, file.isLineOpen ? Buffer.concat([lineFeed, unwritten]) : unwritten);
        const { nlink, size } = await file.handle.stat();
        const isRemoved = nlink === 0;
        if (isRemoved) continue;
        if (size === file.size) return;
        const start = file.size - unwritten.length;
        unwritten = await lostLines(file.handle, unwritten, { start, size });
        if (unwritten.length === 0) return;
      }
      throw fileKeepsVanishing(this.#path);
    });
  }

  async #openAtPath(): Promise<OpenFile> {
    const file = this.#file;
    if (file !== undefined && !this.#mustReopen) {
      const [openStats, pathStats] = await Promise.all([
        file.handle.stat(),
        stat(this.#path).catch(ifMissing),
      ]);
      const isAtPath = pathStats?.ino === openStats.ino && pathStats.dev === openStats.dev;
      if (isAtPath) {
        if (openStats.size !== file.size) await this.#updateSize(file, openStats.size);
        return file;
      }
    }
    this.#file = undefined;
    this.#mustReopen = false;
    await file?.handle.close();
    makeDirectory(dirname(this.#path));
    // A pipe or a device cannot make lines durable, so that only a regular file is taken.
    await regularFile(this.#path);
    // The lock is a file in the same directory, and moves with it.
    await this.#lock?.release();
    this.#lock = undefined;
    this.#lock = await lock(this.#path, this.#options);
    const handle = await open(this.#path, appending, 0o600);
    const { size } = await handle.stat();
    this.#file = { handle, size, isLineOpen: await endsInsideLine(handle, size) };
    if (size === 0) await syncDirectory(dirname(this.#path));
    return this.#file;
  }

  /** Another program has changed the size. */
  async #updateSize(file: OpenFile, size: number): Promise<void> {
    // The known size stays where this throws, so that it is updated before the next line.
    const isLineOpen = await endsInsideLine(file.handle, size);
    if (size < file.size) {
      this.#options.note({
        kind: 'output-cut',
        message:
          `${this.#path} was cut from ${file.size} to ${size} bytes by another program: leads written meanwhile may be gone from it; ` +
          'rotate it by renaming it',
        isWarning: true,
      });
    }
    file.size = size;
    file.isLineOpen = isLineOpen;
  }
}

const ifMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
};

/** Writes the lines, or none of them: after a failure the written part is cut off, unless another program has written after it. */
async function write(file: OpenFile, lines: Uint8Array): Promise<void> {
  const { handle, size } = file;
  let written = 0;
  try {
    while (written < lines.length) {
      written += (await handle.write(lines, written)).bytesWritten;
    }
    await handle.datasync();
  } catch (error) {
    await cutBack(file, size + written);
    throw error;
  }
  file.size = size + written;
  file.isLineOpen = false;
}

/**
 * Tries to cut off what a failed write has left. The failure of the write is the one that is reported, so that this never throws. The
 * next lines end a part that stays: by the size of the file they know of it.
 */
async function cutBack({ handle, size }: OpenFile, expectedSize: number): Promise<void> {
  const stats = await handle.stat().catch(() => undefined);
  if (stats?.size === expectedSize) await handle.truncate(size).catch(() => undefined);
}

export async function endsInsideLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== lineFeedByte;
}

/**
 * Finds which of `lines`, each with its line feed, have to be written again. They were written at `start` of a file that another
 * program has cut or written to meanwhile, and that has `size` bytes now. Whole at the start of a line, none is lost. Behind an
 * unfinished line, only the first one is, as a part of that line. Otherwise a cut may have left the beginning of them, and those are
 * lost that it does not hold. In doubt all are: a lead is rather twice in the file than not at all. Throws what reading it throws.
 */
export async function lostLines(
  handle: Pick<FileHandle, 'read'>,
  lines: Uint8Array,
  { start, size }: { readonly start: number; readonly size: number },
): Promise<Uint8Array> {
  // A cut before they were written has moved them to the end of the shorter file; lines of others have moved them behind `start`.
  const earliestStart = Math.min(start, size - lines.length);
  // The byte before them shows whether they begin a line.
  const readStart = Math.max(0, earliestStart - 1);
  const length = size - readStart;
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, readStart);
  const content = buffer.subarray(0, bytesRead);
  const beginsFile = readStart === 0 && content.indexOf(lines) === 0;
  if (beginsFile || content.includes(Buffer.concat([lineFeed, lines]))) return new Uint8Array();
  if (content.indexOf(lines) >= 0) return lines.subarray(0, lines.indexOf(lineFeedByte) + 1);
  const remaining = content.subarray(start - readStart);
  const isBeginning = remaining.equals(lines.subarray(0, remaining.length));
  return isBeginning ? lines.subarray(remaining.lastIndexOf(lineFeedByte) + 1) : lines;
}
