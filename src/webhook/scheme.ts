import type { KeyObject } from 'node:crypto';
import type { Secret } from '../secret.ts';
import type { Delivery } from './delivery.ts';
import type { RejectReason } from './rejection.ts';

/** A secret in the form its scheme works with; made once, used for every delivery. */
export interface Key {
  readonly secret: Secret;
  /** Decoded bytes, or a public or private key for asymmetric schemes. Its type decides the algorithm, never the sender. */
  readonly material: KeyObject;
  /** The name that a sender gives this key (`keyid`), where the scheme has one and the key states it. */
  readonly id?: string | undefined;
}

/** What is about to be sent: a `Delivery` before it has a remote end. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** The delivery's own id, for schemes that sign one (`webhook-id`, `svix-id`) or carry a nonce. */
  readonly id: string;
}

/** What a matching credential vouches for. */
export interface Authentic {
  readonly ok: true;
  /** Index of the key that matched, for telling that an old secret is still in use; -1 when nothing was checked. */
  readonly key: number;
  /** Signed time in milliseconds, when the scheme has one. */
  readonly timestamp?: number | undefined;
  /** Signed time in milliseconds from which on the delivery is void, when the sender set one. */
  readonly expires?: number | undefined;
  /** Signed value that is good for one body only, when the scheme has one. */
  readonly nonce?: string | undefined;
}

export interface Rejected {
  readonly ok: false;
  readonly reason: RejectReason;
  /** One sentence without any secret or expected signature. */
  readonly detail: string;
}

/** Expected outcomes are values: a delivery that does not verify is not an error of ours. */
export type Verification = Authentic | Rejected;

export const rejected = (reason: RejectReason, detail: string): Rejected => ({ ok: false, reason, detail });

/**
 * How a delivery is authenticated. Signing and verifying stand side by side, so that the sandbox signs with the very
 * code that the receiver verifies with. Pure: raw bytes in, verdict out; time is an argument.
 */
export interface Scheme {
  readonly name: string;
  /** Lower-case names of headers that hold a credential: redacted wherever a delivery is stored or shown. */
  readonly credentialHeaders: readonly string[];
  /** How far a signed time may lie from now, either way, in milliseconds; undefined when the scheme signs no time. */
  readonly toleranceMs: number | undefined;
  /** Reads a secret as the scheme writes them. Throws a `ConfigError` for one that is empty or malformed. */
  key(secret: Secret): Key;
  /** The credential alone, over the raw bytes. Whether its time is right is `timely`'s to say, after the content type. */
  authenticate(delivery: Delivery, keys: readonly Key[]): Verification;
  /** The headers to send with `message`, beside `content-type`. `now` in milliseconds since the epoch. */
  sign(message: Outgoing, key: Key, now: number): readonly (readonly [name: string, value: string])[];
}

/** How deliveries are authenticated in this run: each key may match, and the first one is the one to sign with. */
export interface Verifier {
  readonly scheme: Scheme;
  readonly keys: readonly Key[];
}
