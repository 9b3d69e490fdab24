import { constants, type KeyObject, sign, type SignKeyObjectInput, verify } from 'node:crypto';
import type { Algorithm } from '../scheme-options.ts';

type PairAlgorithm = Exclude<Algorithm, `hmac-${string}`>;

export function pairVerifier(
  algorithm: PairAlgorithm,
  key: KeyObject,
  parts: readonly Uint8Array[],
): (signature: Uint8Array) => boolean {
  const signed = Buffer.concat(parts);
  // Senders choose 64 bytes or the maximum, and both are as safe.
  const [hash, input] = keyInput(algorithm, key, constants.RSA_PSS_SALTLEN_AUTO);
  return (signature) => verify(hash, signed, input, signature);
}

export function signWithPair(algorithm: PairAlgorithm, key: KeyObject, parts: readonly Uint8Array[]): Buffer {
  const [hash, input] = keyInput(algorithm, key, 64);
  return sign(hash, Buffer.concat(parts), input);
}

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
