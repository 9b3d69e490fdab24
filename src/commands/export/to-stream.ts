import { close, constants, fstat, fsync, open, write } from 'node:fs';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { Socket } from 'node:net';
import { InterruptedError, OutputError, UsageError } from '../../errors.ts';
import { writeBookmark } from './bookmark.ts';
import { outputError, withOutputErrors } from '../../files/errors.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { slept } from '../../time/clock.ts';
import { counted } from '../../output/terminal/progress.ts';
import {
  type Destination,
  type ExportContext,
  type ExportPlan,
  type ExportRequest,
  formOf,
  planExport,
  type Written,
} from './plan.ts';
import { exportLeads } from './walk.ts';

/** Writes an export whose bytes cannot be taken back: to stdout, or to a file that is a device or a pipe. */
export async function exportToStream(
  request: ExportRequest,
  place: Exclude<OutputPlace, { kind: 'file' }> | undefined,
): Promise<Written> {
  const { options, context } = request;
  const { output = '' } = options;
  if (options.resume) throw new UsageError(`--resume: ${output} is no file that can be continued`);
  const startedAt = context.clock.now();
  const to = place === undefined ? standardOutput(context) : await openStreamOutput(place, output, context);
  const plan = await planExport(request, startedAt);
  await exportLeads(plan, await streamDestination(plan, to));
  return { before: 0 };
}

async function streamDestination(
  plan: ExportPlan,
  { sink, isTerminal, settle, close: closeOutput }: StreamOutput,
): Promise<Destination> {
  const { options, context, totals, window, account } = plan;
  const { format, gzip, bookmark } = options;
  /** The failure of a write that was under way when the export was interrupted is reported nowhere else. */
  let failure: Error | undefined;
  const noted: ByteSink = {
    async write(bytes) {
      try {
        await sink.write(bytes);
      } catch (error) {
        failure ??= error as Error;
        throw error;
      }
    },
    end: () => sink.end(),
  };
  const compressed = gzip ? gzipSink(noted) : undefined;
  const form = { ...formOf(plan), terminal: isTerminal };
  const records = await recordWriter(format, compressed ?? noted, form);
  let written = 0;
  const saveBookmark = async (): Promise<void> => {
    if (bookmark === undefined || window === undefined) return;
    if (failure !== undefined) throw failure;
    await settle?.();
    await writeBookmark(bookmark, window.bookmark(account));
  };
  /** The leads that the output holds when an export breaks off: as far as the form allows, all that came. */
  const leaveIncomplete = async (): Promise<number> => {
    // A workbook without its end cannot be read.
    if (format === 'xlsx') return 0;
    try {
      await records.flush();
      await (compressed ?? noted).end();
      if (failure !== undefined) throw failure;
      return totals.leads;
    } catch {
      // The failure that broke the export off is the one to report.
      return compressed === undefined ? written : 0;
    }
  };
  return {
    status: isTerminal ? undefined : context.status,
    write: (leads) => records.write(leads),
    async pageEnd() {
      await records.flush();
      written = totals.leads;
    },
    async walkEnd() {
      await records.flush();
      await compressed?.cut(1);
      await saveBookmark();
    },
    async end() {
      await records.end();
      await saveBookmark();
      return undefined;
    },
    async breakOff(error, isInterrupted) {
      // The output itself is broken.
      const isReaderGone = error instanceof InterruptedError && error.signal === 'SIGPIPE';
      if (isReaderGone || (!isInterrupted && error instanceof OutputError)) return undefined;
      const leads = await leaveIncomplete();
      if (leads === 0 && !isInterrupted) return undefined;
      return `${counted(leads, 'lead was', 'leads were')} written; the output is incomplete`;
    },
    close: async () => closeOutput?.(),
  };
}

interface StreamOutput {
  readonly sink: ByteSink;
  readonly isTerminal: boolean;
  /** Resolves when what the sink took has left, and is durable where it went to a file. */
  readonly settle?: () => Promise<void>;
  /** It is called however the export ends; undefined for what others have opened. */
  readonly close?: () => Promise<void>;
}

type Interruptible = Pick<ExportContext, 'clock' | 'signal' | 'messages'>;

/** `name` is how the user called it. Throws an `OutputError` when it cannot be written. */
async function openStreamOutput(
  place: Exclude<OutputPlace, { kind: 'file' }>,
  name: string,
  context: ExportContext,
): Promise<StreamOutput> {
  if (place.kind === 'fifo') {
    return { sink: pipeSink(await openFifo(place.path, context), name, context), isTerminal: false };
  }
  if (place.kind === 'device') {
    const fd = await withOutputErrors(name, () => promisify(open)(place.path, 'w'));
    return { sink: descriptorSink(fd, name), isTerminal: isatty(fd), close: () => promisify(close)(fd) };
  }
  // A descriptor stays open: it belongs to the shell, and others may write to it.
  const { fd } = place;
  if (fd === 1) return standardOutput(context);
  const stats = await withOutputErrors(name, () => promisify(fstat)(fd));
  if (stats.isFIFO() || stats.isSocket()) return { sink: pipeSink(fd, name, context), isTerminal: false };
  return { sink: descriptorSink(fd, name), isTerminal: isatty(fd), settle: () => syncFile(fd, name) };
}

const standardOutput = ({ stdout }: Pick<ExportContext, 'stdout'>): StreamOutput => ({
  sink: streamSink(stdout),
  isTerminal: stdout.isTTY === true,
  async settle() {
    if (stdout.fd !== undefined) await syncFile(stdout.fd, 'the output');
  },
});

/** Makes a file durable that others have opened; a pipe or a terminal has nothing to be synced. */
function syncFile(fd: number, name: string): Promise<void> {
  return withOutputErrors(name, async () => {
    if ((await promisify(fstat)(fd)).isFile()) await promisify(fsync)(fd);
  });
}

function descriptorSink(fd: number, name: string): ByteSink {
  const writeSome = promisify(write);
  return {
    write: (bytes) =>
      withOutputErrors(name, async () => {
        for (let done = 0; done < bytes.length;) {
          done += (await writeSome(fd, bytes, done, bytes.length - done)).bytesWritten;
        }
      }),
    end: () => Promise.resolve(),
  };
}

const lookMs = 100;
const sayAfterMs = 1000;
/** A reader has this long for the rest after an interruption. */
const graceMs = 500;

/**
 * Opens a named pipe for writing as soon as something reads it. The usual way to open one blocks a thread until then,
 * and with it the end of the process.
 */
async function openFifo(path: string, { clock, signal, messages }: Interruptible): Promise<number> {
  const startedAt = clock.now();
  for (;;) {
    signal.throwIfAborted();
    try {
      return await promisify(open)(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO')
        throw outputError(error as NodeJS.ErrnoException, path);
    }
    if (clock.now() - startedAt >= sayAfterMs) messages.note('reader', `waiting for a reader of ${path}`);
    await clock.sleep(lookMs, signal);
  }
}

/** A pipe or socket as a sink. A reader that has stopped reading does not hold up the end of an interrupted run. */
function pipeSink(fd: number, name: string, { clock, signal }: Interruptible): ByteSink {
  const socket = new Socket({ fd, readable: false, writable: true });
  // An event without a listener would end the process; each write reports its own failure.
  socket.on('error', () => undefined);
  const over = new AbortController();
  let endStep: (error: Error) => void = () => undefined;
  const giveUp = (): void => {
    void slept(clock, graceMs, over.signal).then((isOver) => {
      if (!isOver) return;
      socket.destroy();
      // A socket that is destroyed never calls back for the write that it was busy with.
      endStep(signal.reason as Error);
    });
  };
  signal.addEventListener('abort', giveUp, { once: true });
  const step = (run: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      endStep = reject;
      run((error) => {
        if (!error) resolve();
        else reject(signal.aborted ? (signal.reason as Error) : outputError(error, name));
      });
    });
  return {
    // Copied: the caller uses the memory again, and a socket may hold on to it.
    write: (bytes) => step((done) => socket.write(Buffer.from(bytes), done)),
    async end() {
      try {
        await step((done) => socket.end(done));
      } finally {
        signal.removeEventListener('abort', giveUp);
        over.abort();
        socket.destroy();
      }
    },
  };
}
