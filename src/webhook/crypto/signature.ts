import {
  constants,
  createHmac,
  type KeyObject,
  sign,
  type SignKeyObjectInput,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import type { Algorithm, Encoding } from '../scheme-options.ts';
import { bufferOf, sha256 } from '../../json/bytes.ts';
import { publicKeyCannotSign } from '../errors.ts';
import type { Key } from '../scheme.ts';

export type KeyKind = 'secret' | 'ed25519' | 'p256' | 'rsa' | 'rsa-pss';

/** The kinds of keys that an algorithm takes, and its signatures: their length in bytes, and a name of their form. */
interface AlgorithmFacts {
  readonly kinds: readonly KeyKind[];
  readonly lengths: readonly [minimum: number, maximum: number];
  readonly form?: string;
}

const ofLength = (kind: KeyKind, length: number): AlgorithmFacts => ({
  kinds: [kind],
  lengths: [length, length],
});

/** A signature is as long as the modulus of its key: from `leastRsaBits` to 8,192 bits. */
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

/** Completes "the signature is not …". */
export const signatureForm = (algorithm: Algorithm): string =>
  facts[algorithm].form ?? `${facts[algorithm].lengths[0]} bytes`;

/** NIST SP 800-131A accepts no shorter RSA keys. */
const leastRsaBits = 2048;

/** Undefined for a key that no algorithm takes, such as one of another curve. */
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
  for (const algorithm of new Set(signatures.map((signature) => signature.algorithm))) {
    if (!takesKey(algorithm, kind)) continue;
    // An HMAC is computed once, whatever the number of signatures.
    const matches = verifier(algorithm, key, parts);
    for (const signature of signatures) {
      if (signature.algorithm === algorithm && matches(signature.bytes)) hasMatch = true;
    }
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
  if (key.material.type === 'public') throw publicKeyCannotSign();
  if (isHmac(algorithm)) return hmac(algorithm, key, parts);
  return signWithPair(algorithm, key.material, parts);
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

type PairAlgorithm = Exclude<Algorithm, HmacAlgorithm>;

function pairVerifier(
  algorithm: PairAlgorithm,
  key: KeyObject,
  parts: readonly Uint8Array[],
): (signature: Uint8Array) => boolean {
  const signed = Buffer.concat(parts);
  // For the salt of RSA-PSS senders choose 64 bytes or the maximum, and both are as safe.
  const [hash, input] = keyInput(algorithm, key, constants.RSA_PSS_SALTLEN_AUTO);
  return (signature) => verify(hash, signed, input, signature);
}

function signWithPair(algorithm: PairAlgorithm, key: KeyObject, parts: readonly Uint8Array[]): Buffer {
  const [hash, input] = keyInput(algorithm, key, 64);
  return sign(hash, Buffer.concat(parts), input);
}

/** Returns the name of the hash, which is null where the algorithm has its own, and the input of node's functions. */
function keyInput(
  algorithm: PairAlgorithm,
  key: KeyObject,
  saltLength: number,
): readonly [string | null, SignKeyObjectInput] {
  switch (algorithm) {
    case 'ed25519':
      return [null, { key }];
    case 'ecdsa-p256-sha256':
      return ['sha256', { key, dsaEncoding: 'ieee-p1363' }];
    case 'ecdsa-p256-sha256-der':
      return ['sha256', { key, dsaEncoding: 'der' }];
    case 'rsa-pss-sha512':
      return ['sha512', { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }];
    case 'rsa-v1_5-sha256':
      return ['sha256', { key, padding: constants.RSA_PKCS1_PADDING }];
  }
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
