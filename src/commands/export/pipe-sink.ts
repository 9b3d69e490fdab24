import { constants, open } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { outputError } from '../../files/output-error.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import type { ExportContext } from './plan.ts';

type Interruptible = Pick<ExportContext, 'clock' | 'signal' | 'messages'>;

/** Between two checks for a reader; ms. */
const lookMs = 100;
/** A longer wait for a reader is said; ms. */
const sayAfterMs = 1000;
/** How long a reader may take for the rest after an interruption; ms. */
const graceMs = 500;

/**
 * Opens a named pipe for writing as soon as something reads it. The usual way to open one blocks a thread until then,
 * and with it the end of the process.
 */
export async function openFifo(path: string, { clock, signal, messages }: Interruptible): Promise<number> {
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
export function pipeSink(fd: number, what: string, { clock, signal }: Interruptible): ByteSink {
  const socket = new Socket({ fd, readable: false, writable: true });
  // Each write reports its own failure; without a listener the event would also crash us.
  socket.on('error', () => undefined);
  const over = new AbortController();
  let endStep: (error: Error) => void = () => undefined;
  const giveUp = (): void => {
    clock.sleep(graceMs, over.signal).then(
      () => {
        socket.destroy();
        // A socket that is destroyed never calls back for the write that it was busy with.
        endStep(signal.reason as Error);
      },
      () => undefined,
    );
  };
  signal.addEventListener('abort', giveUp, { once: true });
  const step = (run: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      endStep = reject;
      run((error) => {
        if (!error) resolve();
        else reject(signal.aborted ? (signal.reason as Error) : outputError(error, what));
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
