import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../secret.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryAnswer, Rejected } from './delivery-answer.ts';
import type { CustomOptions } from './scheme-options.ts';

/** A secret in the form that its scheme works with; made once, used for every delivery. */
export interface Key {
  readonly secret: Secret;
  /** Decoded bytes, or a public or private key. Its type decides the algorithm: a sender must not be able to choose. */
  readonly material: KeyObject;
}

/** A delivery that is to be signed and sent. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** The delivery's own id, for schemes that sign one (`webhook-id`, `svix-id`) or carry a nonce. */
  readonly id: string;
}

/** What a matching credential proves. */
export interface Authentic {
  readonly ok: true;
  /** Index of the key that matched, to notice that an old secret is still in use; -1 when nothing was checked. */
  readonly key: number;
  /** Signed time in milliseconds, when the scheme has one. */
  readonly timestamp?: number | undefined;
  /** Signed value that may be used for one body only, when the scheme has one. */
  readonly nonce?: string | undefined;
}

/** Expected outcomes are values: a delivery that does not verify is not an error of this program. */
export type Verification = Authentic | Rejected;

/** One request by which a vendor makes sure, at its registration, that an address wants its deliveries. */
export interface Handshake {
  /** Default POST, which is signed; another method is not. */
  readonly method?: 'POST' | 'GET' | 'HEAD';
  /** A header that says what it is. */
  readonly header?: readonly [name: string, value: string];
  /** Members of the body, or parameters of a GET, that say so; undefined: there must be none of that name. */
  readonly fields?: Readonly<Record<string, string | number | undefined>>;
  /** The field whose text goes back, as plain text. */
  readonly echo?: string;
  /** The field that must hold the scheme's `verifyToken`. */
  readonly verifyToken?: string;
  /** Default: 200 with what is echoed, or with nothing. */
  readonly answer?: Pick<DeliveryAnswer, 'status' | 'body'>;
}

/**
 * How a delivery is authenticated. Signing and verifying are side by side, so that the sandbox signs with the same code
 * that the receiver verifies with. Pure: raw bytes in, a verification out; time is an argument.
 */
export interface Scheme {
  readonly name: string;
  /** Lower-case names of the headers that hold a credential: redacted wherever a delivery is stored or shown. */
  readonly credentialHeaders: readonly string[];
  /** Lower-case names of the headers that hold its id and its time: no credential, whatever their names look like. */
  readonly plainHeaders?: readonly string[] | undefined;
  /** The credential proves the sender alone: it can be checked before there is a body. */
  readonly ignoresBody?: boolean | undefined;
  /** How far a signed time may lie from now, either way, in milliseconds; undefined when the scheme signs no time. */
  readonly toleranceMs: number | undefined;
  /** Whether a signature covers the URL or its path, so that a proxy which rewrites them spoils it. */
  readonly signsUrl: boolean;
  /** Where senders deliver, if that is signed and is not the address at which deliveries are received. */
  readonly publicUrl?: URL | undefined;
  /** The parts of which a signature scheme is made, so that a search can vary them. */
  readonly recipe?: (CustomOptions & { readonly content: string }) | undefined;
  /** Decodes a secret in the form that the scheme uses. Throws a `ConfigError` for one that is empty or malformed. */
  key(secret: Secret): Key;
  /** What the vendor's GET must bring at the registration, where it sends one. */
  readonly verifyToken?: Secret | undefined;
  /** Checks the credential over the raw bytes. Its time is checked later, by `checkTimestamp`, after the content type. */
  authenticate(delivery: Delivery, keys: readonly Key[]): Verification;
  /** The headers to send with `message`, in addition to `content-type`. `now` in milliseconds since the epoch. */
  sign(message: Outgoing, key: Key, now: number): readonly (readonly [name: string, value: string])[];
}

/** How deliveries are authenticated in this run: any of the keys may match; the first one is used to sign. */
export interface Verifier {
  readonly scheme: Scheme;
  readonly keys: readonly Key[];
  /** Not taken any more, and still redacted wherever they occur. */
  readonly former?: readonly Key[] | undefined;
}

/** `--no-verify`: accepts every delivery. The scheme has no name in the registry, so that no misspelt name selects it. */
export const unverified: Scheme = {
  name: 'none',
  credentialHeaders: [],
  toleranceMs: undefined,
  signsUrl: false,
  key: (secret) => ({ secret, material: createSecretKey(Buffer.from(secret.reveal())) }),
  authenticate: () => ({ ok: true, key: -1 }),
  sign: () => [],
};
