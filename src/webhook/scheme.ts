import type { Secret } from '../secret.ts';
import type { Delivery } from './delivery.ts';
import type { RejectReason } from './verdict.ts';

/** A secret in the form its scheme works with; made once, used for every delivery. */
export interface Key {
  readonly secret: Secret;
  /** Decoded bytes, or a parsed public or private key for asymmetric schemes. */
  readonly material: unknown;
}

/** What is about to be sent: a `Delivery` before it has a remote end. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** The delivery's own id, for schemes that sign one (`webhook-id`, `svix-id`) or carry a nonce. */
  readonly id: string;
}

/** Expected outcomes are values: a delivery that does not verify is not an error of ours. */
export type Verification =
  | {
      readonly ok: true;
      /** Which of the keys matched, for telling that an old secret is still in use. */
      readonly key: number;
      /** Signed time in milliseconds, when the scheme has one. */
      readonly timestamp?: number;
      /** Signed value that is good for one body only, when the scheme has one. */
      readonly nonce?: string;
    }
  | { readonly ok: false; readonly reason: RejectReason; readonly detail: string };

/**
 * How a delivery is authenticated. Signing and verifying stand side by side, so that the sandbox signs with the very
 * code that the receiver verifies with. Pure: raw bytes in, verdict out; time is an argument.
 */
export interface Scheme {
  readonly name: string;
  /** Lower-case names of headers that hold a credential: redacted wherever a delivery is stored or shown. */
  readonly credentialHeaders: readonly string[];
  /** Reads a secret as the scheme writes them. Throws a `ConfigError` for one that is empty or malformed. */
  key(secret: Secret): Key;
  /** `now` in milliseconds since the epoch. */
  verify(delivery: Delivery, keys: readonly Key[], now: number): Verification;
  /** The headers to send with `message`, beside `content-type`. */
  sign(message: Outgoing, key: Key, now: number): readonly (readonly [name: string, value: string])[];
}
