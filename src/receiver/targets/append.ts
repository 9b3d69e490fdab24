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
import { writeAt } from '../../files/append-durably.ts';
import { linesOf } from '../../files/read.ts';
import { syncDirectory } from '../../files/replace.ts';
import type { AttemptRecord, Inbox, StoredRef } from '../../inbox/inbox.ts';
import type { IdField } from '../../lead/find-leads.ts';
import { readLead } from '../../lead/read-leads.ts';
import type { ReceiverNote } from '../errors.ts';
import { isUnreadable, leadOf, storedDelivery } from '../stored-request.ts';
import type { Target } from './target.ts';

/** The name of such a target in the inbox; in one that is shared, two hosts have two files. */
const appendTargetName = (path: string, host: string | undefined): string =>
  ['output', host, resolve(path)].filter((part) => part !== undefined).join(' ');

export interface AppendTargetOptions extends Pick<Context, 'pid' | 'clock' | 'signal'> {
  readonly note: (note: ReceiverNote) => void;
  /** The name of this machine, where receivers on other machines share the inbox. */
  readonly host?: string | undefined;
}

/**
 * Appends each lead on a line of its own; the line is on disk, in a file that has a name, when `deliver` resolves. Throws an
 * `OutputError` when the file cannot be opened or another receiver writes to it. That a lead could not be written never
 * counts as done.
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
const lineFeed = Buffer.of(lineFeedByte);

const mostRewrites = 10;

/** The open file, and what it held when this process last wrote to it or looked. */
interface OpenFile {
  readonly handle: FileHandle;
  size: number;
  /** The last line has no line feed: another program wrote it, or it could not be cut off. */
  isLineOpen: boolean;
}

/**
 * A file of lines at a path that others may rename, remove or truncate at any time: lines go to the file that has the
 * path, and behind whatever it holds then.
 */
class LineFile {
  readonly #path: string;
  readonly #options: AppendTargetOptions;
  #lock: Lock | undefined;
  #file: OpenFile | undefined;
  #isStale = false;

  constructor(path: string, options: AppendTargetOptions) {
    this.#path = path;
    this.#options = options;
  }

  open(): Promise<void> {
    return withOutputErrors(this.#path, async () => {
      await this.#openAtPath();
    });
  }

  reopen(): void {
    this.#isStale = true;
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
        // A file that was removed while the lines were written has taken them with it, and one that was cut a part of them.
        const { nlink, size } = await file.handle.stat();
        if (nlink === 0) continue;
        if (size === file.size) return;
        const start = file.size - unwritten.length;
        unwritten = await lostLines(file.handle, unwritten, { start, size });
        if (unwritten.length === 0) return;
      }
      throw fileKeepsVanishing(this.#path);
    });
  }

  async #openAtPath(): Promise<OpenFile> {
    const before = this.#file;
    if (before !== undefined && !this.#isStale) {
      const [openStats, pathStats] = await Promise.all([
        before.handle.stat(),
        stat(this.#path).catch(ifMissing),
      ]);
      if (pathStats?.ino === openStats.ino && pathStats.dev === openStats.dev) {
        if (openStats.size !== before.size) await this.#look(before, openStats.size);
        return before;
      }
    }
    this.#file = undefined;
    this.#isStale = false;
    await before?.handle.close();
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

  async #look(file: OpenFile, size: number): Promise<void> {
    // A look that fails is repeated before the next line: only then is the size known.
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

async function cutBack(file: OpenFile, expectedSize: number): Promise<void> {
  const { size } = await file.handle.stat();
  // A part that stays is ended by the next lines, since the size shows that it is there.
  if (size === expectedSize) await file.handle.truncate(file.size).catch(() => undefined);
}

async function endsInsideLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== lineFeedByte;
}

/**
 * Gives those of the lines, each with its line feed, that were written at `start` and are no lines of their own in a file
 * that another program cut meanwhile, and that has `size` bytes now: the first one where it stands after a part of another
 * line, or those that the cut took. Throws what reading the file throws.
 */
export async function lostLines(
  handle: Pick<FileHandle, 'read'>,
  lines: Uint8Array,
  { start, size }: { readonly start: number; readonly size: number },
): Promise<Uint8Array> {
  // A cut before the lines were written has moved them to the front, and writes of others have moved them to the end.
  const from = Math.max(0, Math.min(start, size - lines.length) - 1);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
  const now = buffer.subarray(0, bytesRead);
  let isJoined = false;
  for (let start = now.indexOf(lines); start >= 0; start = now.indexOf(lines, start + 1)) {
    if (from + start === 0 || now[start - 1] === lineFeedByte) return new Uint8Array();
    isJoined = true;
  }
  if (isJoined) return lines.subarray(0, lines.indexOf(lineFeedByte) + 1);
  const remaining = now.subarray(start - from);
  return remaining.equals(lines.subarray(0, remaining.length))
    ? lines.subarray(remaining.lastIndexOf(lineFeedByte) + 1)
    : lines;
}

/**
 * Makes good what an earlier process left in the output file `path` when it was killed. Leads that it wrote but could not mark
 * are marked as delivered: their next deliveries must not be written a second time. A part of a line is cut off where it is
 * the beginning of a lead that the target has not had; any other last line stays. `idField`: the field that is a lead's id;
 * `host`: as for `openAppendTarget`.
 * Resolves with whether it was cut. Throws an `OutputError` when the file cannot be read or written.
 */
export const repairOutputFile = (...options: Parameters<typeof repair>): Promise<boolean> =>
  withOutputErrors(options[0], () => repair(...options));

async function repair(
  path: string,
  inbox: Pick<Inbox, 'waiting' | 'record' | 'list'>,
  idField: IdField,
  host?: string,
): Promise<boolean> {
  const target = appendTargetName(path, host);
  const waiting = new Map<string, StoredRef>();
  for await (const stored of inbox.waiting(target)) waiting.set(stored.leadId, stored);
  if (waiting.size === 0) return false;
  const file = await open(path, 'r+');
  try {
    // The lines of the process that was killed may not be on disk yet.
    await file.sync();
    let last = Buffer.alloc(0);
    let offset = 0;
    for await (const lines of linesOf(file)) {
      const written: AttemptRecord[] = [];
      for (const { bytes } of lines) {
        const byField = readLead(bytes, idField);
        // The lead may have been stored when the id was expected in the field of the specification.
        const read = byField.ok ? byField : readLead(bytes);
        const stored = read.ok ? waiting.get(read.lead.id ?? '') : undefined;
        // After a sync that failed, the line that is read here may never reach the disk, and no later sync reports it. So the
        // line is written once more.
        if (stored !== undefined && (await writeAgain(file, bytes, offset)))
          written.push({ ...stored, target, claim: 1, outcome: 'done' });
        offset += bytes.length + lineFeed.length;
      }
      for (const { leadId } of written) waiting.delete(leadId);
      if (written.length > 0) {
        await file.datasync();
        await inbox.record(written);
      }
      last = Buffer.from(lines.at(-1)?.bytes ?? []);
    }
    const { size } = await file.stat();
    if (!(await endsInsideLine(file, size)) || !(await beginsLead(last, waiting.values(), inbox)))
      return false;
    const end = offset - lineFeed.length;
    // Another program may have cut the file, or written after its last line, meanwhile.
    if ((await file.stat()).size !== end) return false;
    await file.truncate(end - last.length);
    await file.sync();
    return true;
  } finally {
    await file.close();
  }
}

async function writeAgain(file: FileHandle, line: Uint8Array, start: number): Promise<boolean> {
  const length = line.length + lineFeed.length;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, start);
  if (!buffer.subarray(0, line.length).equals(line)) return false;
  await writeAt(file, buffer.subarray(0, bytesRead), start);
  return true;
}

async function beginsLead(
  part: Buffer,
  leads: Iterable<StoredRef>,
  inbox: Pick<Inbox, 'list'>,
): Promise<boolean> {
  for (const { seq } of leads) {
    try {
      const stored = await storedDelivery(inbox, seq);
      if (stored !== undefined && part.equals(leadOf(stored).lead.bytes.subarray(0, part.length)))
        return true;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }
  return false;
}
