import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { bufferOf } from '../../json/bytes.ts';
import type { Secret } from '../../secret.ts';
import type { Key } from '../scheme.ts';
import { type Algorithm, type KeyKind, keyKinds, kindOf } from './algorithm.ts';
import { attempt, ed25519Pair, ed25519Public, namesItsKind, readKey, toBase64 } from './read-key.ts';
import { secretBytes } from './symmetric-key.ts';

/**
 * Reads the key of one asymmetric algorithm: a PEM, a JWK, `whpk_…`, `whsk_…`, or in hex or base64 its DER, the 32 bytes
 * of an Ed25519 public key, the 64 of a private one with its public half, or the 65 of a P-256 point; where the secret was
 * given as bytes, these are not encoded. Throws a `ConfigError` for anything else, and for a key of another algorithm.
 */
export function asymmetricKey(secret: Secret, algorithm: Algorithm): Key {
  const text = secret.reveal();
  if (text.trim() === '') throw new ConfigError('the webhook secret is empty');
  const { material, id } = namesItsKind(secret)
    ? readKey(text)
    : { material: readRaw(secret.revealBytes() ?? decodeRaw(text)), id: undefined };
  const kind = kindOf(material);
  if (kind !== undefined && keyKinds[algorithm].includes(kind)) return { secret, material, id };
  throw new ConfigError(`the key is ${describeKind(material, kind)}, and ${algorithm} needs another`, {
    hint: `give ${neededKeys[algorithm]}`,
  });
}

/** Hex or base64 of a key's bytes; none of them for anything else. */
function decodeRaw(text: string): Uint8Array {
  const trimmed = text.trim();
  const hex = secretBytes(trimmed, 'hex');
  return hex ?? secretBytes(toBase64(trimmed.replace(/\s/g, '')), 'base64') ?? Buffer.alloc(0);
}

function readRaw(raw: Uint8Array): KeyObject {
  const bytes = bufferOf(raw);
  if (bytes.length === 32) return ed25519Public(bytes);
  if (bytes.length === 64) return ed25519Pair(bytes);
  if (bytes.length === 65 && bytes[0] === 4) return p256Point(bytes);
  return attempt(() => readDer(bytes));
}

function p256Point(bytes: Buffer): KeyObject {
  const x = bytes.subarray(1, 33).toString('base64url');
  const y = bytes.subarray(33).toString('base64url');
  return attempt(() => createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' }));
}

function readDer(key: Buffer): KeyObject {
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  }
}

function describeKind(material: KeyObject, kind: KeyKind | undefined): string {
  if (kind === 'secret') return 'a shared secret';
  const { asymmetricKeyType, asymmetricKeyDetails } = material;
  if (asymmetricKeyType?.startsWith('rsa') === true && kind === undefined) {
    return `an RSA key of ${asymmetricKeyDetails?.modulusLength ?? 0} bits`;
  }
  return `of type '${asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? 'unknown'}'`;
}

const neededKeys: Readonly<Record<Algorithm, string>> = {
  'hmac-sha1': 'a shared secret',
  'hmac-sha256': 'a shared secret',
  'hmac-sha512': 'a shared secret',
  ed25519: 'an Ed25519 key',
  'ecdsa-p256-sha256': 'a P-256 key',
  'ecdsa-p256-sha256-der': 'a P-256 key',
  'rsa-pss-sha512': 'an RSA key of at least 2048 bits',
  'rsa-v1_5-sha256': 'an RSA key of at least 2048 bits',
};
