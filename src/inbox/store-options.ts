import type { Clock } from '../time/clock.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { InboxWarning } from './problems.ts';

/** What may be stored and shown of a delivery's path and headers: everything but credentials. */
export interface RedactDelivery {
  readonly path: (delivery: Delivery) => string;
  readonly headers: (delivery: Delivery) => Delivery['rawHeaders'];
}

/** The location of an inbox that ends with its process. */
export const inMemory = ':memory:';

/** What every store is made with. */
export interface StoreOptions {
  /** Path of the file, or `inMemory`. */
  readonly location: string;
  readonly clock: Clock;
  /** The targets that this receiver forwards each new lead to. */
  readonly targets: readonly string[];
  /** How long a claim lasts: longer than any attempt, in milliseconds. */
  readonly claimMs: number;
  /** How long a nonce is good for one body only, in milliseconds; a later delivery with it fails its timestamp check. */
  readonly nonceLifetimeMs: number;
  readonly redact: RedactDelivery;
  /** Says what the operator has to know of the store, such as that its file is damaged; the same thing once. */
  readonly warn: (found: InboxWarning) => void;
  /** Told after each transaction how many writes shared it. */
  readonly onCommit?: ((writes: number) => void) | undefined;
}

/** Rejected deliveries that are kept: the newest. */
export const maxRejectedKept = 1000;

/** Of a rejected delivery's body, in bytes. */
export const maxRejectedBody = 16 * 1024;

/** Expired nonces that are removed for each one that is added: they become fewer faster than they become more. */
export const noncesRemovedPerAdded = 2;

/** Repeats of one id that are kept, the newest: so many with another payload than the first one, and so many with the same. */
export const maxRepeatsKept = 100;

/** Of one delivery, the newest: attempts to forward its lead whose results are kept. */
export const maxResultsKept = 100;

/** Payloads that are compared field by field in one transaction, in bytes: others wait for it to end. */
export const maxComparedBytes = 256 * 1024;

/** Of the leads that are due for a target, the earliest or the latest: of these, those that were never tried are claimed first. */
export const mostDueCompared = 256;
