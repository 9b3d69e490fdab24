import type { Problem } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import type { Delivery } from '../webhook/delivery.ts';

/** Gives the path and the headers of a delivery without credentials, in the form that may be stored and shown. */
export interface RedactDelivery {
  readonly path: (delivery: Delivery) => string;
  readonly headers: (delivery: Delivery) => Delivery['rawHeaders'];
}

/**
 * How often a write looks whether a locked file is free, and how long work in several transactions pauses between two of them, so that
 * others have their turn; in milliseconds.
 */
export const turnMs = 5;

export const inMemory = ':memory:';

export interface StoreOptions {
  readonly location: string;
  readonly clock: Clock;
  readonly targets: readonly string[];
  /** How long a claim lasts: longer than any attempt, in milliseconds. */
  readonly claimMs: number;
  /** How long a nonce stays bound to its body, in milliseconds; a later delivery with it fails the check of its timestamp. */
  readonly nonceLifetimeMs: number;
  readonly redact: RedactDelivery;
  /** Warns the operator of a problem of the store, such as that its file is damaged; of each problem once. */
  readonly warn: (warning: Problem) => void;
}

/** The value of a stored header whose own value was a credential. */
export const redacted = '[redacted]';

/**
 * The newest deliveries of each kind are kept: so many rejected ones, other events, repeats of one lead with another payload than the
 * first one, and repeats of it with the same. Of a rejected body so many bytes are kept.
 */
export const maxRejectedKept = 1000;
export const maxRepeatsKept = 100;
export const maxRejectedBody = 16 * 1024;

/** Bytes of payloads that one transaction compares field by field, while other writes wait for it. */
export const maxComparedBytes = 256 * 1024;

/** The largest delivery needs so many bytes of a disk: a body may have 1 MiB. */
export const roomBytes = 1.5 * 1024 * 1024;
