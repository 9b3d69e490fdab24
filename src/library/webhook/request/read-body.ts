import { tooLarge } from '../../../http/server/request/validate-headers.ts';
import type { Clock } from '../../../time/clock.ts';
import { type Rejection, rejection } from '../../../webhook/rejection.ts';
import type { BodySource } from './body-source.ts';

export interface BodyLimits {
  /** In bytes. */
  readonly maxBytes: number;
  /** From the first look at the body to its last byte, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Told how to end the reading from outside. */
  readonly onStart?: ((reject: (rejected: Rejection) => void) => void) | undefined;
  /** Told each piece before it is kept; what it returns ends the reading. */
  readonly onPiece?: ((piece: Uint8Array, size: number) => Rejection | undefined) | undefined;
}

export type ReadBody = { readonly kind: 'body'; readonly bytes: Uint8Array } | Rejection;

/** Reads a whole body within the limits. Never rejects: a client that stops or sends too much is a `Rejection`. */
export async function readBody(source: BodySource, limits: BodyLimits): Promise<ReadBody> {
  if (typeof source !== 'function') {
    return source.length > limits.maxBytes ? tooLarge(limits.maxBytes) : { kind: 'body', bytes: source };
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  const over = new AbortController();
  let stop = (): void => undefined;
  try {
    return await new Promise<ReadBody>((resolve) => {
      limits.onStart?.(resolve);
      stop = source({
        piece(bytes) {
          size += bytes.length;
          const rejected = size > limits.maxBytes ? tooLarge(limits.maxBytes) : limits.onPiece?.(bytes, size);
          if (rejected === undefined) pieces.push(bytes);
          else resolve(rejected);
        },
        end: () => resolve({ kind: 'body', bytes: Buffer.concat(pieces) }),
        fail: () => resolve(rejection('incomplete_body', `the connection ended after ${size} bytes`)),
      });
      const seconds = limits.timeoutMs / 1000;
      const tooSlow = rejection('too_slow', `the body was not complete after ${seconds} s`);
      // The sleep rejects when reading is over: nobody is too slow then.
      limits.clock.sleep(limits.timeoutMs, over.signal).then(
        () => resolve(tooSlow),
        () => undefined,
      );
    });
  } finally {
    over.abort();
    stop();
  }
}
