import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { equalMacs } from '../crypto/constant-time-equal.ts';
import { hmac } from '../crypto/hmac.ts';
import { secretBytes, type SecretEncoding, symmetricKey } from '../crypto/symmetric-key.ts';
import type { Key } from '../scheme.ts';

/** Names of RFC 9421, section 3.3. */
export type SignatureAlgorithm = 'hmac-sha256' | 'ed25519' | 'ecdsa-p256-sha256';

/**
 * Reads a PEM or JWK of an Ed25519 or P-256 key, a JWK of a shared secret, or the shared secret itself. Throws a
 * `ConfigError`, also for text that looks like a key and is damaged: it must not be taken for a shared secret.
 */
export function parseMessageKey(secret: Secret, encoding: SecretEncoding): Key {
  const text = secret.reveal().trim();
  if (text.startsWith('{')) return parseJwk(secret, text);
  if (!text.includes('-----BEGIN')) return symmetricKey(secret, encoding);
  return { secret, material: requireSupported(parseKey(() => parsePem(text))) };
}

function parseJwk(secret: Secret, text: string): Key {
  const jwk = parseKey(() => JSON.parse(text) as Record<string, unknown>);
  const id = typeof jwk['kid'] === 'string' ? jwk['kid'] : undefined;
  if (jwk['kty'] !== 'oct') {
    const input = { key: jwk, format: 'jwk' } as const;
    const make = (): KeyObject => (jwk['d'] === undefined ? createPublicKey(input) : createPrivateKey(input));
    return { secret, material: requireSupported(parseKey(make)), id };
  }
  const bytes = typeof jwk['k'] === 'string' ? secretBytes(toBase64(jwk['k']), 'base64') : undefined;
  if (bytes === undefined || bytes.length === 0) throw new ConfigError('the JWK holds no secret');
  return { secret, material: createSecretKey(bytes), id };
}

const toBase64 = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/');

const parsePem = (pem: string): KeyObject =>
  pem.includes('PRIVATE KEY-----') ? createPrivateKey(pem) : createPublicKey(pem);

function parseKey<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    // The cause's own message may quote the secret.
    throw new ConfigError('the key cannot be read', {
      hint: 'it must be a PEM or JWK of an Ed25519 or P-256 key, or a shared secret',
      cause: cause instanceof Error ? cause.name : undefined,
    });
  }
}

function requireSupported(material: KeyObject): KeyObject {
  const curve = material.asymmetricKeyDetails?.namedCurve;
  if (material.asymmetricKeyType === 'ed25519' || curve === 'prime256v1') return material;
  throw new ConfigError(
    `a key of type '${curve ?? material.asymmetricKeyType ?? 'unknown'}' is not supported`,
    {
      hint: 'use an Ed25519 or P-256 key, or a shared secret',
    },
  );
}

/** The key alone decides: a sender who could choose the algorithm would use the public key as the secret of an HMAC. */
export function algorithmOf(key: Key): SignatureAlgorithm {
  if (key.material.type === 'secret') return 'hmac-sha256';
  return key.material.asymmetricKeyType === 'ed25519' ? 'ed25519' : 'ecdsa-p256-sha256';
}

export function signatureMatches(key: Key, base: Buffer, signature: Uint8Array): boolean {
  switch (algorithmOf(key)) {
    case 'hmac-sha256':
      return equalMacs(hmac('hmac-sha256', key, [base]), signature);
    case 'ed25519':
      return verify(null, base, key.material, signature);
    case 'ecdsa-p256-sha256':
      return verify('sha256', base, { key: key.material, dsaEncoding: 'ieee-p1363' }, signature);
  }
}

/** Throws a `ConfigError` for a public key. */
export function signatureOf(key: Key, base: Buffer): Buffer {
  if (key.material.type === 'public') {
    throw new ConfigError('a public key verifies but cannot sign', { hint: 'use the private key' });
  }
  switch (algorithmOf(key)) {
    case 'hmac-sha256':
      return hmac('hmac-sha256', key, [base]);
    case 'ed25519':
      return sign(null, base, key.material);
    case 'ecdsa-p256-sha256':
      return sign('sha256', base, { key: key.material, dsaEncoding: 'ieee-p1363' });
  }
}
