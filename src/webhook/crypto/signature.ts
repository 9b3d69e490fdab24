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
  readonly kinds: readonly KeyKind[];
  /** The length of a signature in bytes. */
  readonly lengths: readonly [least: number, most: number];
  readonly form?: string;
}

const ofLength = (kind: KeyKind, length: number): AlgorithmFacts => ({
  kinds: [kind],
  lengths: [length, length],
});

/** A signature is as long as the modulus of its key, which `kindOf` accepts from 2,048 bits on; 1,024 bytes are 8,192 bits. */
const rsa: AlgorithmFacts = { kinds: ['rsa'], lengths: [256, 1024], form: 'an RSA signature' };

const facts: Readonly<Record<Algorithm, AlgorithmFacts>> = {
  'hmac-sha1': ofLength('secret', 20),
  'hmac-sha256': ofLength('secret', 32),
  'hmac-sha384': ofLength('secret', 48),
  'hmac-sha512': ofLength('secret', 64),
  ed25519: ofLength('ed25519', 64),
  'ecdsa-p256-sha256': ofLength('p256', 64),
  // DER has a header of 2 bytes, and two integers of 1 to 33 bytes, each behind a header of 2 bytes.
  'ecdsa-p256-sha256-der': { kinds: ['p256'], lengths: [8, 72], form: 'an ECDSA signature in DER' },
  'rsa-pss-sha512': { ...rsa, kinds: ['rsa', 'rsa-pss'] },
  'rsa-v1_5-sha256': rsa,
};

export const takesKey = (algorithm: Algorithm, kind: KeyKind | undefined): boolean =>
  kind !== undefined && facts[algorithm].kinds.includes(kind);

export function hasLengthOf(algorithm: Algorithm, { length }: Uint8Array): boolean {
  const [minimum, maximum] = facts[algorithm].lengths;
  return length >= minimum && length <= maximum;
}

/** Completes "is not …". */
export const signatureForm = (algorithm: Algorithm): string =>
  facts[algorithm].form ?? `${facts[algorithm].lengths[0]} bytes`;

/** The shortest RSA keys that are accepted: their signatures have the 256 bytes that `rsa` demands. */
const leastRsaBits = 2048;

export function kindOf(material: KeyObject): KeyKind | undefined {
  if (material.type === 'secret') return 'secret';
  switch (material.asymmetricKeyType) {
    case 'ed25519':
      return 'ed25519';
    case 'ec':
      return material.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'p256' : undefined;
    case 'rsa':
    case 'rsa-pss':
      return (material.asymmetricKeyDetails?.modulusLength ?? 0) < leastRsaBits
        ? undefined
        : material.asymmetricKeyType;
    default:
      return undefined;
  }
}

type HmacAlgorithm = Extract<Algorithm, `hmac-${string}`>;

const isHmac = (algorithm: Algorithm): algorithm is HmacAlgorithm => algorithm.startsWith('hmac-');

/** Takes the parts one after the other, so that the body is neither copied nor decoded. */
function hmac(algorithm: HmacAlgorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac(algorithm.slice('hmac-'.length), key.material);
  for (const part of parts) mac.update(part);
  // `mac.digest()` allocates memory for its buffer, which costs as much as the digest; `Buffer.from` has a pool of memory.
  return Buffer.from(mac.digest('binary'), 'latin1');
}

export interface Signature {
  readonly algorithm: Algorithm;
  readonly bytes: Uint8Array;
}

/**
 * Returns the index of the first key that made one of the signatures, or -1. It tries every key, so that the
 * time does not depend on the key that matched.
 */
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
  let hasMatch = false;
  let previousAlgorithm: Algorithm | undefined;
  let matches = (_: Uint8Array): boolean => false;
  for (const { algorithm, bytes } of signatures) {
    if (!takesKey(algorithm, kind)) continue;
    // The schemes list the signatures by algorithm, so each HMAC is computed once, whatever their number.
    if (algorithm !== previousAlgorithm) matches = verifier(algorithm, key, parts);
    previousAlgorithm = algorithm;
    if (matches(bytes)) hasMatch = true;
  }
  return hasMatch;
}

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

export function signatureOf(algorithm: Algorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  if (key.material.type === 'public') {
    throw publicKeyCannotSign();
  }
  if (isHmac(algorithm)) return hmac(algorithm, key, parts);
  return signWithPair(algorithm, key.material, parts);
}

/**
 * Takes a time that does not depend on how many bytes agree: it compares only digests, which always have 32
 * bytes. Every shared secret is compared by this, by `equalsKey` or, as a MAC, by `equalMacs`; a signature by a
 * key pair holds no secret, and `pairVerifier` checks it.
 */
export function equalInConstantTime(expected: Uint8Array, received: Uint8Array): boolean {
  return timingSafeEqual(sha256(expected), sha256(received));
}

/** Exporting a key costs more than comparing it, so each digest is kept. */
const digests = new WeakMap<Key, Buffer>();

export function equalsKey(key: Key, received: Uint8Array): boolean {
  const digest = digests.get(key) ?? sha256(key.material.export());
  digests.set(key, digest);
  return timingSafeEqual(digest, sha256(received));
}

/** The length of a MAC is public, so MACs of equal length are compared directly, without digests. */
const equalMacs = (expected: Uint8Array, received: Uint8Array): boolean =>
  expected.length === received.length && timingSafeEqual(expected, received);

/** Matches a key of a pair, which is no shared secret: PEM, `whpk_` with 32 bytes in base64, or JSON that holds such a JWK. */
const keyOfPair = /-----BEGIN |^\s*(?:whpk_[\w+/-]{43}=?\s*$|[{[][^]*"kty"\s*:\s*"(?:EC|OKP|RSA)")/;

/**
 * Throws a `ConfigError` for a secret that is empty or not in this encoding. A secret that is given as bytes is
 * not decoded.
 */
export function symmetricKey(secret: Secret, encoding: SecretEncoding): Key {
  if (secret.reveal().trim() === '') throw emptySecret();
  // Everybody knows a public key: as a shared secret it would prove nothing.
  if (keyOfPair.test(secret.reveal()) || publicDer(secret) !== undefined) {
    throw secretOfKeyPair();
  }
  const bytes = secret.revealBytes() ?? secretBytes(secret.reveal(), encoding);
  if (bytes === undefined) throw secretNotEncoded(encoding);
  if (bytes.length === 0) throw emptySecret();
  return { secret, material: createSecretKey(bytes) };
}

function publicDer(secret: Secret): KeyObject | undefined {
  const bytes = secret.revealBytes() ?? decodeRaw(secret.reveal().replace(/^\s*whsec_/, ''));
  // A public key or certificate in DER is a sequence (0x30); the shortest, an Ed25519 key, has 44 bytes.
  if (bytes[0] !== 0x30 || bytes.length < 44) return undefined;
  const key = bufferOf(bytes);
  for (const type of ['spki', 'pkcs1', 'certificate'] as const) {
    try {
      return type === 'certificate'
        ? new X509Certificate(key).publicKey
        : createPublicKey({ key, format: 'der', type });
    } catch {
      // It is of another type, or not a key.
    }
  }
  return undefined;
}

/** Reads hex, or base64 or base64url with any white space and with or without padding; empty for any other text. */
export function decodeRaw(text: string): Uint8Array {
  const trimmed = text.trim();
  const hex = secretBytes(trimmed, 'hex');
  return hex ?? secretBytes(toBase64(trimmed.replace(/\s/g, '')), 'base64') ?? Buffer.alloc(0);
}

const toBase64 = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/');

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
 * Undefined unless `text` is what `encode` would write: node's own decoder skips or stops at characters that it
 * does not know. Hex is read in any case; base64 is padded, base64url is not.
 */
export function decode(text: string, encoding: Encoding): Buffer | undefined {
  const isHex = encoding === 'hex' || encoding === 'hex-upper';
  const bytes = Buffer.from(text, isHex ? 'hex' : encoding);
  const canonical = isHex ? text.toLowerCase() : text;
  return bytes.toString(isHex ? 'hex' : encoding) === canonical ? bytes : undefined;
}
