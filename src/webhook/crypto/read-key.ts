import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { bufferOf } from '../../json/bytes.ts';
import type { Secret } from '../../secret.ts';
import {
  emptySecret,
  keyForAnotherAlgorithm,
  keyHalvesDiffer,
  secretNotEncoded,
  secretOfKeyPair,
  unreadableKey,
  unreadableWebhookKey,
} from '../errors.ts';
import type { Key } from '../scheme.ts';
import type { Algorithm, SecretEncoding } from '../scheme-options.ts';
import { kindOf, takesKey } from './algorithms.ts';
import { decode } from './signature.ts';

/** Matches a key of a pair, which is no shared secret: PEM, `whpk_` with 32 bytes in base64, or JSON that holds such a JWK. */
const keyOfPair = /-----BEGIN |^\s*(?:whpk_[\w+/-]{43}=?\s*$|[{[][^]*"kty"\s*:\s*"(?:EC|OKP|RSA)")/;

/**
 * Throws a `ConfigError` for a secret that is empty or not in this encoding. A secret that is given as bytes is
 * not decoded.
 */
export function symmetricKey(secret: Secret, encoding: SecretEncoding): Key {
  if (secret.reveal().trim() === '') throw emptySecret();
  // Everybody knows a public key: as a shared secret it would prove nothing.
  if (keyOfPair.test(secret.reveal()) || publicDer(secret) !== undefined) throw secretOfKeyPair();
  const bytes = secret.revealBytes() ?? secretBytes(secret.reveal(), encoding);
  if (bytes === undefined) throw secretNotEncoded(encoding);
  if (bytes.length === 0) throw emptySecret();
  return { secret, material: createSecretKey(bytes) };
}

function publicDer(secret: Secret): KeyObject | undefined {
  const bytes = secret.revealBytes() ?? decodeRaw(secret.reveal().replace(/^\s*whsec_/, ''));
  // A public key or certificate in DER is a sequence (0x30); the shortest, an Ed25519 key, has 44 bytes.
  if (bytes[0] !== 0x30 || bytes.length < 44) return undefined;
  const key = bufferOf(bytes);
  for (const type of ['spki', 'pkcs1', 'certificate'] as const) {
    try {
      return type === 'certificate'
        ? new X509Certificate(key).publicKey
        : createPublicKey({ key, format: 'der', type });
    } catch {
      // It is of another type, or not a key.
    }
  }
  return undefined;
}

/**
 * Reads a PEM, a JWK, `whpk_…`, `whsk_…`, or in hex or base64: DER, the 32 bytes of an Ed25519 public key, the
 * 64 of a private key with its public half, or the 65 of a P-256 point. A secret that is given as bytes is not
 * decoded. Throws a `ConfigError` for anything else, and for a key of another algorithm.
 */
export function asymmetricKey(secret: Secret, algorithm: Algorithm): Key {
  const text = secret.reveal();
  if (text.trim() === '') throw emptySecret();
  const material = namesItsKind(secret) ? readKey(text) : readRaw(secret.revealBytes() ?? decodeRaw(text));
  const kind = kindOf(material);
  if (takesKey(algorithm, kind)) return { secret, material };
  const { asymmetricKeyType, asymmetricKeyDetails } = material;
  const isShortRsa = kind === undefined && asymmetricKeyType?.startsWith('rsa') === true;
  throw keyForAnotherAlgorithm(
    algorithm,
    asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? 'unknown',
    isShortRsa ? (asymmetricKeyDetails?.modulusLength ?? 0) : undefined,
  );
}

function readRaw(raw: Uint8Array): KeyObject {
  const bytes = bufferOf(raw);
  if (bytes.length === 32) return ed25519Public(bytes);
  if (bytes.length === 64) return ed25519Pair(bytes);
  if (bytes.length === 65 && bytes[0] === 4) return p256Point(bytes);
  return parseKey(() => readDer(bytes));
}

function p256Point(bytes: Buffer): KeyObject {
  const x = bytes.subarray(1, 33).toString('base64url');
  const y = bytes.subarray(33).toString('base64url');
  return parseKey(() => createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' }));
}

function readDer(key: Buffer): KeyObject {
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  }
}

const namesItsKind = (secret: Secret): boolean =>
  secret.revealBytes() === undefined
    ? /^\s*\{|-----BEGIN |^\s*wh[sp]k_/.test(secret.reveal())
    : secret.reveal().includes('-----BEGIN ');

/** Throws a `ConfigError` for a damaged key, which must not be taken for a shared secret. */
function readKey(text: string): KeyObject {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) return readJwk(trimmed);
  if (/^wh[sp]k_/.test(trimmed)) return readWebhookKey(trimmed);
  // In an environment variable, a PEM is often one line with \n for its line breaks.
  const pem = trimmed.replaceAll('\\n', '\n');
  return parseKey(() => (pem.includes('PRIVATE KEY-----') ? createPrivateKey(pem) : createPublicKey(pem)));
}

const readJwk = (text: string): KeyObject =>
  parseKey(() => {
    const input = { key: JSON.parse(text) as JsonWebKey, format: 'jwk' } as const;
    return input.key.d === undefined ? createPublicKey(input) : createPrivateKey(input);
  });

function readWebhookKey(text: string): KeyObject {
  const bytes = secretBytes(text.slice(5), 'base64');
  const isPublic = text.startsWith('whpk_');
  if (bytes?.length === 32) return isPublic ? ed25519Public(bytes) : ed25519Private(bytes);
  if (bytes?.length === 64 && !isPublic) return ed25519Pair(bytes);
  throw unreadableWebhookKey();
}

function ed25519Public(bytes: Buffer): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  return parseKey(() => createPublicKey({ key: jwk, format: 'jwk' }));
}

/** RFC 8410, section 7: these bytes precede the seed of a private key in PKCS #8. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const ed25519Private = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });

/** libsodium keeps a private key as the seed followed by the public key. */
function ed25519Pair(bytes: Buffer): KeyObject {
  const material = ed25519Private(bytes.subarray(0, 32));
  const derived = createPublicKey(material).export({ format: 'jwk' }).x;
  if (derived === bytes.subarray(32).toString('base64url')) return material;
  throw keyHalvesDiffer();
}

/** The errors of node's key readers may quote the key, so only their name is kept. */
function parseKey<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw unreadableKey(cause instanceof Error ? cause.name : undefined);
  }
}

/** Reads hex, or base64 or base64url with any white space and with or without padding; empty for any other text. */
function decodeRaw(text: string): Uint8Array {
  const trimmed = text.trim();
  const hex = secretBytes(trimmed, 'hex');
  return hex ?? secretBytes(toBase64(trimmed.replace(/\s/g, '')), 'base64') ?? Buffer.alloc(0);
}

const toBase64 = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/');

function secretBytes(text: string, encoding: SecretEncoding): Buffer | undefined {
  switch (encoding) {
    case 'utf8':
      return Buffer.from(text);
    case 'hex':
      return decode(text, 'hex');
    case 'base64':
      return decode(padded(text), 'base64');
    case 'whsec':
      return decode(padded(text.replace(/^whsec_/, '')), 'base64');
  }
}

/** Secrets are often copied without their padding, so it may be missing; in signatures it may not. */
const padded = (text: string): string =>
  text.endsWith('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
