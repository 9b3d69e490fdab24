import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { lock } from '../../files/lock.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import { outputError } from '../../files/output-error.ts';
import { linesIn } from '../../files/read.ts';
import type { Inbox, StoredRef } from '../../inbox/inbox.ts';
import { readLead } from '../../lead/read-leads.ts';
import type { Target, TargetResult } from './target.ts';

/** A disk has no time-out: this is long for a slow one to sync. */
const longestMs = 30_000;

/** The name of such a target in the inbox. */
const appendTargetName = (path: string): string => `output ${resolve(path)}`;

/**
 * Appends each lead on a line of its own; the line is on disk when `deliver` resolves. Throws an
 * `OutputError` when the file cannot be opened or another receiver writes to it. That a lead could not be written never
 * counts as done. `sentenceOf`: the neutral sentence of an error, for results.
 */
export async function openAppendTarget(
  path: string,
  context: Pick<Context, 'pid' | 'clock' | 'signal'>,
  sentenceOf: (error: unknown) => string,
): Promise<Target> {
  try {
    makeDirectory(dirname(resolve(path)));
  } catch (error) {
    throw outputError(error as NodeJS.ErrnoException, path);
  }
  // Lines are written at positions that this process computes, so no other may write at the same time.
  const held = await lock(resolve(path), context);
  const file = await openRepaired(resolve(path)).catch(async (error: unknown) => {
    await held.release();
    throw error;
  });
  const appender = new LineAppender(file);
  return {
    name: appendTargetName(path),
    longestMs,
    deliver: (_, leads) =>
      leads.map(async ({ lead }): Promise<TargetResult> => {
        const started = performance.now();
        const failure = await appender.append(Buffer.concat([lead.bytes, Buffer.from('\n')])).then(
          () => undefined,
          (error: unknown) => sentenceOf(outputError(error as NodeJS.ErrnoException, path)),
        );
        const durationMs = Math.round(performance.now() - started);
        return { to: 'output', ok: failure === undefined, answer: failure ?? 'written', durationMs };
      }),
    async close() {
      await file.close();
      await held.release();
    },
  };
}

/** Appends lines durably to a file that nobody else writes to: lines that arrive during one sync share the next. */
class LineAppender {
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

/** In bytes, read at a time from the end of the file. */
const chunkSize = 64 * 1024;

/**
 * Opens a file of lines for appending, and creates it where it is missing. A process that was killed while it wrote
 * leaves a part of a line: that is cut off, since its lead was never acknowledged. Throws an `OutputError`.
 */
async function openRepaired(path: string): Promise<FileHandle> {
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
  const chunk = Buffer.alloc(chunkSize);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const lineFeed = chunk.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (lineFeed >= 0) return start + lineFeed + 1;
    end = start;
  }
  return 0;
}

/**
 * Marks as delivered the leads in the output file `path` that an earlier process wrote but could not mark before it was killed:
 * their next deliveries must not be written a second time.
 */
export async function markWrittenLeads(
  path: string,
  inbox: Pick<Inbox, 'unsettled' | 'settle'>,
): Promise<void> {
  const target = appendTargetName(path);
  const outstanding = new Map<string, StoredRef>();
  for await (const stored of inbox.unsettled(target)) outstanding.set(stored.leadId, stored);
  if (outstanding.size === 0) return;
  for await (const lines of linesIn(createReadStream(path) as AsyncIterable<Buffer>)) {
    const written = lines.flatMap(({ bytes }) => {
      const read = readLead(bytes);
      const stored = read.ok ? outstanding.get(read.lead.id ?? '') : undefined;
      return stored === undefined ? [] : [{ ...stored, target }];
    });
    if (written.length > 0) await inbox.settle(written);
  }
}
