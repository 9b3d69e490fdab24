import {
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  createSecretKey,
  X509Certificate,
} from 'node:crypto';
import { emptySecret, publicKeyCannotSign, secretNotEncoded, secretOfKeyPair } from '../errors.ts';
import type { Key } from '../scheme.ts';
import type { Algorithm, Encoding, SecretEncoding } from '../scheme-options.ts';
import { bufferOf, sha256 } from '../../json/bytes.ts';
import { pairVerifier, signWithPair } from './pair-signature.ts';
import type { Secret } from '../../secret.ts';

export type KeyKind = 'secret' | 'ed25519' | 'p256' | 'rsa' | 'rsa-pss';

interface AlgorithmFacts {
  /** The kinds of key that it works with. */
  readonly kinds: readonly KeyKind[];
  /** The fewest and the most bytes of a signature. */
  readonly lengths: readonly [least: number, most: number];
  /** What the bytes of a signature must be, where these do not all have one length. */
  readonly form?: string;
}

/** An algorithm whose signatures all have the same length. */
const ofLength = (kind: KeyKind, length: number): AlgorithmFacts => ({
  kinds: [kind],
  lengths: [length, length],
});

const rsa: AlgorithmFacts = { kinds: ['rsa'], lengths: [256, 1024], form: 'an RSA signature' };

const facts: Readonly<Record<Algorithm, AlgorithmFacts>> = {
  'hmac-sha1': ofLength('secret', 20),
  'hmac-sha256': ofLength('secret', 32),
  'hmac-sha384': ofLength('secret', 48),
  'hmac-sha512': ofLength('secret', 64),
  ed25519: ofLength('ed25519', 64),
  'ecdsa-p256-sha256': ofLength('p256', 64),
  'ecdsa-p256-sha256-der': { kinds: ['p256'], lengths: [8, 72], form: 'an ECDSA signature in DER' },
  'rsa-pss-sha512': { ...rsa, kinds: ['rsa', 'rsa-pss'] },
  'rsa-v1_5-sha256': rsa,
};

/** Whether an algorithm works with keys of this kind; undefined is a kind that none works with. */
export const takesKey = (algorithm: Algorithm, kind: KeyKind | undefined): boolean =>
  kind !== undefined && facts[algorithm].kinds.includes(kind);

/** Whether bytes have a length that a signature of this algorithm can have. */
export function hasLengthOf(algorithm: Algorithm, { length }: Uint8Array): boolean {
  const [least, most] = facts[algorithm].lengths;
  return length >= least && length <= most;
}

/** Completes "is not …". */
export const signatureForm = (algorithm: Algorithm): string =>
  facts[algorithm].form ?? `${facts[algorithm].lengths[0]} bytes`;

/** Undefined for a key that no algorithm here works with. */
export function kindOf(material: KeyObject): KeyKind | undefined {
  if (material.type === 'secret') return 'secret';
  switch (material.asymmetricKeyType) {
    case 'ed25519':
      return 'ed25519';
    case 'ec':
      return material.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'p256' : undefined;
    case 'rsa':
    case 'rsa-pss':
      return (material.asymmetricKeyDetails?.modulusLength ?? 0) < 2048
        ? undefined
        : material.asymmetricKeyType;
    default:
      return undefined;
  }
}

type HmacAlgorithm = Extract<Algorithm, `hmac-${string}`>;

const isHmac = (algorithm: Algorithm): algorithm is HmacAlgorithm => algorithm.startsWith('hmac-');

/** The HMAC of the parts, one after the other: so the body is neither copied nor decoded. */
function hmac(algorithm: HmacAlgorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac(algorithm.slice('hmac-'.length), key.material);
  for (const part of parts) mac.update(part);
  // A buffer that node's crypto makes has memory of its own, which costs as much as the digest.
  return Buffer.from(mac.digest('binary'), 'latin1');
}

/** A signature that a sender sent, decoded. */
export interface Signature {
  readonly algorithm: Algorithm;
  readonly bytes: Uint8Array;
}

/** Index of the first key that made one of the signatures, or -1. Every key is tried with every signature of its kind. */
export function matchingKey(
  keys: readonly Key[],
  parts: readonly Uint8Array[],
  signatures: readonly Signature[],
): number {
  let first = -1;
  for (const [i, key] of keys.entries()) {
    if (matchesAny(key, parts, signatures) && first === -1) first = i;
  }
  return first;
}

function matchesAny(key: Key, parts: readonly Uint8Array[], signatures: readonly Signature[]): boolean {
  const kind = kindOf(key.material);
  let found = false;
  let made: Algorithm | undefined;
  let matches = (_: Uint8Array): boolean => false;
  for (const { algorithm, bytes } of signatures) {
    if (!takesKey(algorithm, kind)) continue;
    // Those of one algorithm follow each other: an HMAC is computed once for all its candidates.
    if (algorithm !== made) matches = verifier(algorithm, key, parts);
    made = algorithm;
    if (matches(bytes)) found = true;
  }
  return found;
}

/** Checks signatures over the same parts with the same key, whose kind must fit the algorithm. */
function verifier(
  algorithm: Algorithm,
  key: Key,
  parts: readonly Uint8Array[],
): (signature: Uint8Array) => boolean {
  if (isHmac(algorithm)) {
    const expected = hmac(algorithm, key, parts);
    return (signature) => equalMacs(expected, signature);
  }
  return pairVerifier(algorithm, key.material, parts);
}

/** Throws a `ConfigError` for a public key. */
export function signatureOf(algorithm: Algorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  if (key.material.type === 'public') {
    throw publicKeyCannotSign();
  }
  if (isHmac(algorithm)) return hmac(algorithm, key, parts);
  return signWithPair(algorithm, key.material, parts);
}

/**
 * Whether two byte strings are the same, in a time that does not depend on how many bytes agree: only their digests, which
 * always have 32 bytes, are compared. Every credential of every scheme is compared by this, by `equalsKey` or by
 * `equalMacs`.
 */
export function equalInConstantTime(expected: Uint8Array, received: Uint8Array): boolean {
  return timingSafeEqual(sha256(expected), sha256(received));
}

/** The digest of each key, since exporting a key costs more than comparing it. */
const digests = new WeakMap<Key, Buffer>();

/** The same for a key that is compared with what each delivery carries. */
export function equalsKey(key: Key, received: Uint8Array): boolean {
  const own = digests.get(key) ?? sha256(key.material.export());
  digests.set(key, own);
  return timingSafeEqual(own, sha256(received));
}

/**
 * The same for MACs, whose length is public: those of equal length are compared directly, without digests.
 */
const equalMacs = (expected: Uint8Array, received: Uint8Array): boolean =>
  expected.length === received.length && timingSafeEqual(expected, received);

/** PEM, a public key of Standard Webhooks, or a JWK that is no shared secret, alone or among others. */
const ofKeyPair = /-----BEGIN |^\s*(?:whpk_[\w+/-]{43}=?\s*$|[{[][^]*"kty"\s*:\s*"(?:EC|OKP|RSA)")/;

/** Throws a `ConfigError` for a secret that is empty or not in this encoding; one that was given as bytes has none. */
export function symmetricKey(secret: Secret, encoding: SecretEncoding): Key {
  if (secret.reveal().trim() === '') throw emptySecret();
  // A public key is known to everybody: as a shared secret it would prove nothing.
  if (ofKeyPair.test(secret.reveal()) || publicDer(secret) !== undefined) {
    throw secretOfKeyPair();
  }
  const bytes = secret.revealBytes() ?? secretBytes(secret.reveal(), encoding);
  if (bytes === undefined) throw secretNotEncoded(encoding);
  if (bytes.length === 0) throw emptySecret();
  return { secret, material: createSecretKey(bytes) };
}

/** The public key that a secret is in DER (SPKI, PKCS #1 or a certificate): as bytes, in hex or in base64. */
function publicDer(secret: Secret): KeyObject | undefined {
  const bytes = secret.revealBytes() ?? decodeRaw(secret.reveal().replace(/^\s*whsec_/, ''));
  // Each is a sequence in ASN.1, and no key is shorter.
  if (bytes[0] !== 0x30 || bytes.length < 44) return undefined;
  const key = bufferOf(bytes);
  for (const type of ['spki', 'pkcs1', undefined] as const) {
    try {
      return type === undefined
        ? new X509Certificate(key).publicKey
        : createPublicKey({ key, format: 'der', type });
    } catch {
      // Of the other type, or no key.
    }
  }
  return undefined;
}

/** Hex or base64 of a key's bytes; none of them for anything else. */
export function decodeRaw(text: string): Uint8Array {
  const trimmed = text.trim();
  const hex = secretBytes(trimmed, 'hex');
  return hex ?? secretBytes(toBase64(trimmed.replace(/\s/g, '')), 'base64') ?? Buffer.alloc(0);
}

/** base64url with the characters of base64. */
const toBase64 = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/');

/** The key's bytes; undefined for a secret that is not in this encoding. */
export function secretBytes(text: string, encoding: SecretEncoding): Buffer | undefined {
  switch (encoding) {
    case 'utf8':
      return Buffer.from(text);
    case 'hex':
      return decode(text, 'hex');
    case 'base64':
      return decode(padded(text), 'base64');
    case 'whsec':
      return decode(padded(text.replace(/^whsec_/, '')), 'base64');
  }
}

/** Secrets are often copied without their padding, so it may be missing; in signatures it may not. */
const padded = (text: string): string =>
  text.endsWith('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');

export function encode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'hex-upper') return bufferOf(bytes).toString('hex').toUpperCase();
  return bufferOf(bytes).toString(encoding);
}

/**
 * The bytes that `text` encodes; undefined unless it is what `encode` would write for them: node's own decoding stops at, or
 * skips, characters that it does not know. Hex is read in any case; base64 is padded, base64url is not.
 */
export function decode(text: string, encoding: Encoding): Buffer | undefined {
  const isHex = encoding === 'hex' || encoding === 'hex-upper';
  const bytes = Buffer.from(text, isHex ? 'hex' : encoding);
  const written = isHex ? text.toLowerCase() : text;
  return bytes.toString(isHex ? 'hex' : encoding) === written ? bytes : undefined;
}
