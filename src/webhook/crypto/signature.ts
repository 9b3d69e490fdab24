import { constants, type KeyObject, sign, type SignKeyObjectInput, verify } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import type { Key } from '../scheme.ts';
import { type Algorithm, keyKinds, kindOf } from './algorithm.ts';
import { equalMacs } from './constant-time-equal.ts';
import { hmac } from './hmac.ts';

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
  return keys.map((key) => matchesAny(key, parts, signatures)).indexOf(true);
}

function matchesAny(key: Key, parts: readonly Uint8Array[], signatures: readonly Signature[]): boolean {
  const kind = kindOf(key.material);
  const own = signatures.filter(({ algorithm }) => kind !== undefined && keyKinds[algorithm].includes(kind));
  const algorithms = new Set(own.map(({ algorithm }) => algorithm));
  // Each algorithm's verifier is made once: with it, an HMAC is computed once for all its candidates.
  return [...algorithms]
    .flatMap((algorithm) => {
      const matches = verifier(algorithm, key, parts);
      return own.filter((one) => one.algorithm === algorithm).map(({ bytes }) => matches(bytes));
    })
    .includes(true);
}

/** Checks signatures over the same parts with the same key, whose kind must fit the algorithm. */
export function verifier(
  algorithm: Algorithm,
  key: Key,
  parts: readonly Uint8Array[],
): (signature: Uint8Array) => boolean {
  switch (algorithm) {
    case 'hmac-sha1':
    case 'hmac-sha256':
    case 'hmac-sha512': {
      const expected = hmac(algorithm, key, parts);
      return (signature) => equalMacs(expected, signature);
    }
    default: {
      const signed = Buffer.concat(parts);
      // RFC 9421 says 64 bytes, and some libraries take the most that fits: both are as safe.
      const [hash, input] = keyInput(algorithm, key.material, constants.RSA_PSS_SALTLEN_AUTO);
      return (signature) => verify(hash, signed, input, signature);
    }
  }
}

/** Throws a `ConfigError` for a public key. */
export function signatureOf(algorithm: Algorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  if (key.material.type === 'public') {
    throw new ConfigError('a public key verifies but cannot sign', { hint: 'use the private key' });
  }
  switch (algorithm) {
    case 'hmac-sha1':
    case 'hmac-sha256':
    case 'hmac-sha512':
      return hmac(algorithm, key, parts);
    default: {
      const [hash, input] = keyInput(algorithm, key.material, 64);
      return sign(hash, Buffer.concat(parts), input);
    }
  }
}

type Asymmetric = Exclude<Algorithm, `hmac-${string}`>;

/** The hash and the key with its parameters, as node's `sign` and `verify` take them. */
function keyInput(
  algorithm: Asymmetric,
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
