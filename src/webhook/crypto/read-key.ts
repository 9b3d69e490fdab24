import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { secretBytes } from './symmetric-key.ts';

/** A key as it was written down, and what a JWK says of it. */
export interface ReadKey {
  readonly material: KeyObject;
  /** A JWK's `kid`. */
  readonly id?: string | undefined;
  /** A JWK's `alg`. */
  readonly alg?: string | undefined;
}

/** Whether a secret has the form of a key that says itself what it is: PEM, JWK, `whpk_…` or `whsk_…`; as bytes, PEM. */
export const namesItsKind = (secret: Secret): boolean =>
  secret.revealBytes() === undefined
    ? /^\s*\{|-----BEGIN |^\s*wh[sp]k_/.test(secret.reveal())
    : secret.reveal().includes('-----BEGIN ');

/**
 * Reads a PEM, a JWK, `whpk_…` or `whsk_…` (Standard Webhooks). Throws a `ConfigError` for anything else, and for a key
 * that is damaged: it must not be taken for a shared secret.
 */
export function readKey(text: string): ReadKey {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) return readJwk(trimmed);
  if (/^wh[sp]k_/.test(trimmed)) return { material: readWebhookKey(trimmed) };
  // In an environment variable, a PEM is often one line with \n for its line breaks.
  const pem = trimmed.replaceAll('\\n', '\n');
  const make = (): KeyObject =>
    pem.includes('PRIVATE KEY-----') ? createPrivateKey(pem) : createPublicKey(pem);
  return { material: attempt(make) };
}

function readJwk(text: string): ReadKey {
  const jwk = attempt(() => JSON.parse(text) as Record<string, unknown>);
  const [id, alg] = [textOf(jwk['kid']), textOf(jwk['alg'])];
  if (jwk['kty'] !== 'oct') {
    const input = { key: jwk, format: 'jwk' } as const;
    const make = (): KeyObject => (jwk['d'] === undefined ? createPublicKey(input) : createPrivateKey(input));
    return { material: attempt(make), id, alg };
  }
  const bytes = typeof jwk['k'] === 'string' ? secretBytes(toBase64(jwk['k']), 'base64') : undefined;
  if (bytes === undefined || bytes.length === 0) throw new ConfigError('the JWK holds no secret');
  return { material: createSecretKey(bytes), id, alg };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** base64url with the characters of base64. */
export const toBase64 = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/');

/** `whpk_` and the 32 bytes of a public key in base64, or `whsk_` and a private key, perhaps with its public half. */
function readWebhookKey(text: string): KeyObject {
  const bytes = secretBytes(text.slice(5), 'base64');
  const isPublic = text.startsWith('whpk_');
  if (bytes?.length === 32) return isPublic ? ed25519Public(bytes) : ed25519Private(bytes);
  if (bytes?.length === 64 && !isPublic) return ed25519Pair(bytes);
  throw new ConfigError('the webhook key is not an Ed25519 key in base64', {
    hint: 'copy the whole key, from whpk_ or whsk_ to its end',
  });
}

export function ed25519Public(bytes: Buffer): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  return attempt(() => createPublicKey({ key: jwk, format: 'jwk' }));
}

/** The bytes before the seed of a private key in PKCS #8 (RFC 8410, section 7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const ed25519Private = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });

/** The seed and the public key behind it, as libsodium keeps a private key. */
export function ed25519Pair(bytes: Buffer): KeyObject {
  const material = ed25519Private(bytes.subarray(0, 32));
  const derived = createPublicKey(material).export({ format: 'jwk' }).x;
  if (derived === bytes.subarray(32).toString('base64url')) return material;
  throw new ConfigError('the two halves of the private key do not belong together');
}

/** Runs what reads a key, whose own errors may quote it. */
export function attempt<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new ConfigError('the key cannot be read', {
      hint: 'it must be a PEM or JWK of an Ed25519, P-256 or RSA key, or a shared secret',
      cause: cause instanceof Error ? cause.name : undefined,
    });
  }
}
