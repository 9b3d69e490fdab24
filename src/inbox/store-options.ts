import type { Problem } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import type { Delivery } from '../webhook/delivery.ts';

/** Gives the path and the headers of a delivery without credentials: so they may be stored and shown. */
export interface RedactDelivery {
  readonly path: (delivery: Delivery) => string;
  readonly headers: (delivery: Delivery) => Delivery['rawHeaders'];
}

export const inMemory = ':memory:';

export interface StoreOptions {
  readonly location: string;
  readonly clock: Clock;
  readonly targets: readonly string[];
  /** How long a claim lasts: longer than any attempt, in milliseconds. */
  readonly claimMs: number;
  /** How long a nonce is good for one body only, in milliseconds; a later delivery with it fails its timestamp check. */
  readonly nonceLifetimeMs: number;
  readonly redact: RedactDelivery;
  /** Says what the operator has to know of the store, such as that its file is damaged; the same thing once. */
  readonly warn: (warning: Problem) => void;
}

/** The value of a stored header whose own value was a credential. */
export const redacted = '[redacted]';

/** Rejected deliveries that are kept: the newest. */
export const maxRejectedKept = 1000;

/** The start of a rejected body that is kept, in bytes. */
export const maxRejectedBody = 16 * 1024;

/** Repeats of one id that are kept, the newest: so many with another payload than the first one, and so many with the same. */
export const maxRepeatsKept = 100;

/** Payloads that are compared field by field in one transaction, in bytes: others wait for it to end. */
export const maxComparedBytes = 256 * 1024;

/** The largest delivery needs so many bytes of a disk: a body may have 1 MiB. */
export const roomBytes = 1.5 * 1024 * 1024;
