import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../secret.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryAnswer, Rejection } from './delivery-answer.ts';
import type { CustomOptions } from './scheme-options.ts';

export interface Key {
  readonly secret: Secret;
  /** The type of the key decides the algorithm: a sender must not be able to choose. */
  readonly material: KeyObject;
}

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** The delivery's own id, for schemes that sign one (`webhook-id`, `svix-id`) or carry a nonce. */
  readonly id: string;
}

/**
 * `key` is the index of the key that matched, which shows that an old secret is still in use; -1 when nothing was
 * checked. Where the scheme has them, `timestamp` is the signed time in milliseconds since the epoch, and `nonce` a
 * signed value that may be used for one body only.
 */
export interface Authentic {
  readonly ok: true;
  readonly key: number;
  readonly timestamp?: number | undefined;
  readonly nonce?: string | undefined;
}

export type Verification = Authentic | Rejection;

/**
 * A request by which a vendor makes sure, at its registration, that an address wants its deliveries. It has this
 * `method` (default POST, which is signed; another method is not), this `header`, and these `fields`: members of the
 * body, or parameters of a GET, of which an undefined one must be absent. `verifyToken` and `echo` name the fields
 * that hold the verify token and the text to send back. The default `answer` is 200 with that text, or with nothing.
 */
export interface Handshake {
  readonly method?: 'POST' | 'GET' | 'HEAD';
  readonly header?: readonly [name: string, value: string];
  readonly fields?: Readonly<Record<string, string | number | undefined>>;
  readonly echo?: string;
  readonly verifyToken?: string;
  readonly answer?: Pick<DeliveryAnswer, 'status' | 'body'>;
}

/**
 * Signing and verifying are side by side, so that the sandbox signs with the same code that the receiver
 * verifies with. A scheme is pure: time is an argument.
 *
 * `credentialHeaders` and `plainHeaders` are in lower case: the first are redacted before a delivery is stored or
 * shown; the second hold id and time, and are no credentials, whatever their names look like.
 */
export interface Scheme {
  readonly name: string;
  readonly credentialHeaders: readonly string[];
  readonly plainHeaders?: readonly string[] | undefined;
  /** The credential proves the sender alone, so it can be checked before there is a body. */
  readonly ignoresBody?: boolean | undefined;
  /**
   * How far a signed time may lie from now, either way, in milliseconds; undefined when the scheme signs no
   * time.
   */
  readonly toleranceMs: number | undefined;
  /** Then a proxy that rewrites the URL or its path breaks the signature. */
  readonly signsUrl: boolean;
  /** The signed address where senders deliver, if the receiver listens at another one. */
  readonly publicUrl?: URL | undefined;
  /** The parts of a signature scheme, so that a search can vary them. */
  readonly recipe?: (CustomOptions & { readonly content: string }) | undefined;
  /** The verify token of the vendor's registration, which proves a handshake that is not signed. */
  readonly verifyToken?: Secret | undefined;
  /** Throws a `ConfigError` for a secret that the scheme cannot read. */
  key(secret: Secret): Key;
  /**
   * Checks the credential over the raw bytes. `checkTimestamp` checks its time later, after the content type.
   */
  authenticate(delivery: Delivery, keys: readonly Key[]): Verification;
  /**
   * The headers to send with `message`, in addition to `content-type`. `now` is in milliseconds since the
   * epoch.
   */
  sign(message: Outgoing, key: Key, now: number): readonly (readonly [name: string, value: string])[];
}

/** Any of the keys may match; the first one signs. */
export interface Verifier {
  readonly scheme: Scheme;
  readonly keys: readonly Key[];
  /** Keys that no longer verify, and that are still redacted. */
  readonly former?: readonly Key[] | undefined;
}

/** `--no-verify` accepts every delivery. The registry has no such name, so that no misspelt name selects it. */
export const unverified: Scheme = {
  name: 'none',
  credentialHeaders: [],
  toleranceMs: undefined,
  signsUrl: false,
  key: (secret) => ({ secret, material: createSecretKey(Buffer.from(secret.reveal())) }),
  authenticate: () => ({ ok: true, key: -1 }),
  sign: () => [],
};
