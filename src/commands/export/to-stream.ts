import { close, constants, fstat, fsync, open } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import type { Context } from '../../context.ts';
import { InterruptedError, OutputError, UsageError } from '../../errors.ts';
import { outputError, withOutputErrors } from '../../files/errors.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import { writeToDescriptor } from '../../files/replace.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import { slept } from '../../time/clock.ts';
import { writeBookmark } from './bookmark.ts';
import {
  type ExportPlan,
  type ExportRequest,
  writerOptionsOf,
  planExport,
  type ExportResult,
} from './plan.ts';
import { type Destination, exportLeads } from './walk.ts';

/** Writes an export whose bytes cannot be taken back: to stdout, or to a file that is a device or a pipe. */
export async function exportToStream(
  request: ExportRequest,
  place: Exclude<OutputPlace, { kind: 'file' }> | undefined,
): Promise<ExportResult> {
  const { options, context } = request;
  const { output = '' } = options;
  if (options.resume) throw new UsageError(`--resume: ${output} is no file that can be continued`);
  const startedAt = context.clock.now();
  const stream =
    place === undefined ? standardOutput(context) : await openStreamOutput(place, output, context);
  const plan = await planExport(request, startedAt);
  await exportLeads(plan, await streamDestination(plan, stream));
  return { earlierLeads: 0 };
}

/** Writes as it goes, and moves the bookmark when a walk is complete and its leads have left. */
async function streamDestination(plan: ExportPlan, stream: StreamOutput): Promise<Destination> {
  const { format, gzip, bookmark } = plan.options;
  let failure: unknown;
  const bytes: ByteSink = {
    async write(chunk) {
      await stream.sink.write(chunk).catch((error: unknown) => {
        failure ??= error;
        throw error;
      });
    },
    end: () => stream.sink.end(),
  };
  const compression = gzip ? gzipSink(bytes) : undefined;
  const writerOptions = { ...writerOptionsOf(plan), terminal: stream.isTerminal };
  const records = await recordWriter(format, compression ?? bytes, writerOptions);
  let leadsOfWholePages = 0;

  /** Throws the failure of the first write that failed: no caller waits for a write that was under way at an interruption. */
  const throwIfFailed = (): void => {
    if (failure !== undefined) throw failure as Error;
  };

  async function saveBookmark(): Promise<void> {
    if (bookmark === undefined || plan.window === undefined) return;
    throwIfFailed();
    await stream.sync?.();
    await writeBookmark(bookmark, plan.window.bookmark(plan.account));
  }

  /** Ends the output after a failure, as far as its format can end early, and returns how many leads it holds. */
  async function endIncomplete(): Promise<number> {
    // A workbook without its end cannot be read.
    if (format === 'xlsx') return 0;
    try {
      await records.flush();
      await (compression ?? bytes).end();
      throwIfFailed();
      return plan.totals.leads;
    } catch {
      // Not thrown: the failure that ended the export is the one to report. A compressed file that is cut cannot be read.
      return compression === undefined ? leadsOfWholePages : 0;
    }
  }

  return {
    status: stream.isTerminal ? undefined : plan.context.status,
    write: (leads) => records.write(leads),
    async pageEnd() {
      await records.flush();
      leadsOfWholePages = plan.totals.leads;
    },
    async walkEnd() {
      await records.flush();
      await compression?.endMember(1);
      await saveBookmark();
    },
    async end() {
      await records.end();
      await saveBookmark();
      return undefined;
    },
    async breakOff(error, isInterrupted) {
      const isReaderGone = error instanceof InterruptedError && error.signal === 'SIGPIPE';
      const isOutputBroken = isReaderGone || (!isInterrupted && error instanceof OutputError);
      if (isOutputBroken) return undefined;
      const leads = await endIncomplete();
      if (leads === 0 && !isInterrupted) return undefined;
      return `${counted(leads, 'lead was', 'leads were')} written; the output is incomplete`;
    },
    async close() {
      await stream.close?.();
    },
  };
}

/** An output whose bytes cannot be taken back: stdout, a pipe, a device, or a descriptor of the shell. */
interface StreamOutput {
  readonly sink: ByteSink;
  readonly isTerminal: boolean;
  /** Makes the bytes that were written durable, if they went to a file. */
  readonly sync?: () => Promise<void>;
  /** Must be called however the export ends. Undefined for an output that another process has opened. */
  readonly close?: () => Promise<void>;
}

type OutputContext = Pick<Context, 'clock' | 'signal' | 'messages' | 'stdout'>;
type Interruptible = Pick<Context, 'clock' | 'signal' | 'messages'>;

/** Opens the place that the user called `name`. Throws an `OutputError` when it cannot be written. */
async function openStreamOutput(
  place: Exclude<OutputPlace, { kind: 'file' }>,
  name: string,
  context: OutputContext,
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
  return { sink: descriptorSink(fd, name, context), isTerminal: isatty(fd), sync: () => syncFile(fd, name) };
}

const standardOutput = ({ stdout }: Pick<Context, 'stdout'>): StreamOutput => ({
  sink: streamSink(stdout),
  isTerminal: stdout.isTTY === true,
  async sync() {
    if (stdout.fd !== undefined) await syncFile(stdout.fd, 'the output');
  },
});

/** A pipe or a terminal cannot be synced, and need not be. */
function syncFile(fd: number, name: string): Promise<void> {
  return withOutputErrors(name, async () => {
    if ((await promisify(fstat)(fd)).isFile()) await promisify(fsync)(fd);
  });
}

const descriptorSink = (fd: number, name: string, { signal }: Partial<Interruptible> = {}): ByteSink => ({
  write: (bytes) => withOutputErrors(name, () => writeToDescriptor(fd, bytes, signal)),
  end: () => Promise.resolve(),
});

const readerCheckMs = 100;
/** The wait for a reader is noted after this time. */
const noteReaderAfterMs = 1000;

/**
 * Opens a named pipe for writing as soon as a process reads it, and fails with ENXIO until then. A blocking `open` would hold a
 * thread of node until a reader comes, and with it the end of an interrupted run.
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
    const isSlow = clock.now() - startedAt >= noteReaderAfterMs;
    if (isSlow) messages.note('reader', `waiting for a reader of ${path}`);
    await clock.sleep(readerCheckMs, signal);
  }
}

/** After an interruption, a reader has this long to take the bytes that are still to be written. */
const graceMs = 500;

/**
 * A pipe or socket as a sink. A reader that has stopped reading must not hold up the end of an interrupted run: when the grace
 * time is over, the socket is destroyed, and the current write fails with the reason of the interruption.
 */
function pipeSink(fd: number, name: string, { clock, signal }: Interruptible): ByteSink {
  const socket = new Socket({ fd, readable: false, writable: true });
  // An event without a listener would end the process; each write reports its own failure.
  socket.on('error', () => undefined);
  const ended = new AbortController();
  let rejectCurrent: (error: Error) => void = () => undefined;
  const destroyAfterGrace = (): void => {
    void slept(clock, graceMs, ended.signal).then((isGraceOver) => {
      if (!isGraceOver) return;
      socket.destroy();
      // A destroyed socket never calls back for the write that it was busy with.
      rejectCurrent(signal.reason as Error);
    });
  };
  signal.addEventListener('abort', destroyAfterGrace, { once: true });
  const completed = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      rejectCurrent = reject;
      start((error) => {
        if (!error) resolve();
        else reject(signal.aborted ? (signal.reason as Error) : outputError(error, name));
      });
    });
  return {
    // Copied: the caller uses the memory again, and a socket may hold on to it.
    write: (bytes) => completed((done) => socket.write(Buffer.from(bytes), done)),
    async end() {
      try {
        await completed((done) => socket.end(done));
      } finally {
        signal.removeEventListener('abort', destroyAfterGrace);
        ended.abort();
        socket.destroy();
      }
    },
  };
}
