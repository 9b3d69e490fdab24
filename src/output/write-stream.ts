import type { Writable } from 'node:stream';
import { outputError } from '../files/output-error.ts';

/** Writes and waits until the stream took it. Throws `OutputError` (disk full, I/O), or `InterruptedError` (EPIPE). */
export function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => {
      if (error) reject(outputError(error));
      else resolve();
    });
  });
}
