import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { decode } from './encoding.ts';
import type { Key } from '../scheme.ts';

export const ed25519Length = 64;

/** The bytes before the seed of a private key in PKCS #8 (RFC 8410, section 7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Whether a secret has the form that Standard Webhooks gives asymmetric keys. */
export const isEd25519 = (secret: Secret): boolean => /^wh[sp]k_/.test(secret.reveal());

/**
 * Reads `whpk_` and the 32 bytes of a public key in base64, or `whsk_` and a private key, which may be followed by its
 * public half. Throws a `ConfigError` for anything else.
 */
export function ed25519Key(secret: Secret): Key {
  const text = secret.reveal();
  const bytes = decode(text.slice(5), 'base64');
  if (text.startsWith('whpk_') && bytes?.length === 32) {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
    return { secret, material: createPublicKey({ key: jwk, format: 'jwk' }) };
  }
  if (text.startsWith('whsk_') && (bytes?.length === 32 || bytes?.length === 64)) {
    return { secret, material: privateKey(bytes.subarray(0, 32)) };
  }
  throw new ConfigError('the webhook key is not an Ed25519 key in base64', {
    hint: 'copy the whole key, from whpk_ or whsk_ to its end',
  });
}

const privateKey = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });

export const ed25519Matches = (key: Key, parts: readonly Uint8Array[], signature: Uint8Array): boolean =>
  verify(null, Buffer.concat(parts), key.material, signature);

/** Throws a `ConfigError` for a public key. */
export function ed25519Sign(key: Key, parts: readonly Uint8Array[]): Buffer {
  if (key.material.type === 'private') return sign(null, Buffer.concat(parts), key.material);
  throw new ConfigError('a public key verifies but cannot sign', { hint: 'use the private key' });
}
