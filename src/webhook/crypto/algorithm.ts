import { type KeyObject } from 'node:crypto';
import { hmacAlgorithms, macLength } from './hmac.ts';

/** Names of RFC 9421, section 3.3, where it has one. `-der`: the ECDSA signature as ASN.1 instead of r and s alone. */
export const algorithms = [
  ...hmacAlgorithms,
  'ed25519',
  'ecdsa-p256-sha256',
  'ecdsa-p256-sha256-der',
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
] as const;

export type Algorithm = (typeof algorithms)[number];

export type KeyKind = 'secret' | 'ed25519' | 'p256' | 'rsa' | 'rsa-pss';

/** The kinds of key that an algorithm works with. */
export const keyKinds: Readonly<Record<Algorithm, readonly KeyKind[]>> = {
  'hmac-sha1': ['secret'],
  'hmac-sha256': ['secret'],
  'hmac-sha512': ['secret'],
  ed25519: ['ed25519'],
  'ecdsa-p256-sha256': ['p256'],
  'ecdsa-p256-sha256-der': ['p256'],
  'rsa-pss-sha512': ['rsa', 'rsa-pss'],
  'rsa-v1_5-sha256': ['rsa'],
};

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

/** Whether bytes have a length that a signature of this algorithm can have. */
export function hasLengthOf(algorithm: Algorithm, { length }: Uint8Array): boolean {
  switch (algorithm) {
    case 'hmac-sha1':
    case 'hmac-sha256':
    case 'hmac-sha512':
      return length === macLength[algorithm];
    case 'ed25519':
    case 'ecdsa-p256-sha256':
      return length === 64;
    case 'ecdsa-p256-sha256-der':
      return length >= 8 && length <= 72;
    case 'rsa-pss-sha512':
    case 'rsa-v1_5-sha256':
      return length >= 256 && length <= 1024;
  }
}

/** Completes "is not …": what the bytes of a signature must be. */
export const signatureForms: Readonly<Record<Algorithm, string>> = {
  'hmac-sha1': '20 bytes',
  'hmac-sha256': '32 bytes',
  'hmac-sha512': '64 bytes',
  ed25519: '64 bytes',
  'ecdsa-p256-sha256': '64 bytes',
  'ecdsa-p256-sha256-der': 'an ECDSA signature in DER',
  'rsa-pss-sha512': 'an RSA signature',
  'rsa-v1_5-sha256': 'an RSA signature',
};
