import { ConfigError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { type Algorithm, keyKinds, kindOf } from '../crypto/algorithm.ts';
import { namesItsKind, readKey } from '../crypto/read-key.ts';
import { type SecretEncoding, symmetricKey } from '../crypto/symmetric-key.ts';
import type { Key } from '../scheme.ts';

/** Names of RFC 9421, section 3.3; of two for one kind of key, the first is used to sign. */
const messageAlgorithms = [
  'hmac-sha256',
  'ed25519',
  'ecdsa-p256-sha256',
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
] as const satisfies readonly Algorithm[];

export type MessageAlgorithm = (typeof messageAlgorithms)[number];

export interface MessageKey extends Key {
  readonly algorithms: readonly MessageAlgorithm[];
}

/** What a JWK's `alg` says of an RSA key (RFC 7518, section 3.1). */
const rsaAlgorithms: Readonly<Record<string, MessageAlgorithm>> = {
  PS512: 'rsa-pss-sha512',
  RS256: 'rsa-v1_5-sha256',
};

/**
 * Reads a PEM or JWK of an Ed25519, P-256 or RSA key, a JWK of a shared secret, or the shared secret itself. Throws a
 * `ConfigError`, also for text that looks like a key and is damaged: it must not be taken for a shared secret.
 */
export function parseMessageKey(secret: Secret, encoding: SecretEncoding): MessageKey {
  if (!namesItsKind(secret)) {
    return { ...symmetricKey(secret, encoding), algorithms: ['hmac-sha256'] };
  }
  const { material, id, alg } = readKey(secret.reveal());
  const kind = kindOf(material);
  const algorithms = messageAlgorithms
    .filter((algorithm) => kind !== undefined && keyKinds[algorithm].includes(kind))
    .filter((algorithm) => kind !== 'rsa' || alg === undefined || rsaAlgorithms[alg] === algorithm);
  if (algorithms.length === 0) {
    const { asymmetricKeyType, asymmetricKeyDetails } = material;
    const type = alg ?? asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? 'unknown';
    throw new ConfigError(`a key of type '${type}' is not supported`, {
      hint: 'use an Ed25519 or P-256 key, an RSA key of at least 2048 bits, or a shared secret',
    });
  }
  return { secret, material, id, algorithms };
}

/**
 * The algorithms that a key may be used with. The key decides: a sender who could choose would use the public key as the
 * secret of an HMAC. Between the two of an RSA key, which are both safe with it, a signature's `alg` may choose.
 */
export const algorithmsOf = (key: Key): readonly MessageAlgorithm[] =>
  'algorithms' in key ? (key as MessageKey).algorithms : [];
