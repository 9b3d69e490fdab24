import type { KeyObject } from 'node:crypto';
import type { Algorithm } from '../scheme-options.ts';

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
