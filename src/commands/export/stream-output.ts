import { close, constants, fstat, fsync, open, write } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import type { Context } from '../../context.ts';
import { outputError, withOutputErrors } from '../../files/errors.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { streamSink } from '../../output/records/record-writer.ts';
import { slept } from '../../time/clock.ts';

/** An output whose bytes cannot be taken back: stdout, a pipe, a device, or a descriptor of the shell. */
export interface StreamOutput {
  readonly sink: ByteSink;
  readonly isTerminal: boolean;
  /** Resolves when what the sink took has left, and is durable where it went to a file. */
  readonly settle?: () => Promise<void>;
  /** It is called however the export ends; undefined for what others have opened. */
  readonly close?: () => Promise<void>;
}

type OutputContext = Pick<Context, 'clock' | 'signal' | 'messages' | 'stdout'>;
type Interruptible = Pick<Context, 'clock' | 'signal' | 'messages'>;

/** `name` is how the user called it. Throws an `OutputError` when it cannot be written. */
export async function openStreamOutput(
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
  return { sink: descriptorSink(fd, name), isTerminal: isatty(fd), settle: () => syncFile(fd, name) };
}

export const standardOutput = ({ stdout }: Pick<Context, 'stdout'>): StreamOutput => ({
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
