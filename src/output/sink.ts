import type { Writable } from 'node:stream';
import { InterruptedError, OutputError } from '../errors.ts';

/** Writes and waits until the stream took it. Throws `OutputError` (disk full, I/O), or `InterruptedError` (EPIPE). */
export function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => {
      if (error) reject(outputError(error));
      else resolve();
    });
  });
}

/** A failed write in the words of the user: the reader went away, the disk is full, the device failed. */
export function outputError(error: NodeJS.ErrnoException, what = 'the output'): Error {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') {
    return new InterruptedError('SIGPIPE', { cause: error });
  }
  const reason: Readonly<Record<string, string>> = {
    ENOSPC: 'no space left on the device',
    EDQUOT: 'the disk quota is used up',
    EIO: 'I/O error',
  };
  const why = reason[error.code ?? ''] ?? error.message;
  return new OutputError(`cannot write ${what}: ${why}`, {
    cause: error,
    ...(error.code === 'ENOSPC' && { hint: 'free some space, or write to another place' }),
  });
}
