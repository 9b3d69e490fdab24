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
import { decode, kindOf, takesKey } from './signature.ts';

/**
 * Matches a PEM, `whpk_` with 32 bytes in base64, or JSON that holds a JWK of a pair. It leaves out `whsk_`: such a
 * key is not public, so where a scheme has no key pairs its text is a shared secret like any other.
 */
const keyOfPair = /-----BEGIN |^\s*(?:whpk_[\w+/-]{43}=?\s*$|[{[][^]*"kty"\s*:\s*"(?:EC|OKP|RSA)")/;

/**
 * Reads the key of an HMAC. Throws a `ConfigError` for a secret that is empty, not in this encoding, or a key of a
 * pair: everybody may know a public key, which would prove nothing. A secret that is given as bytes is not decoded.
 */
export function symmetricKey(secret: Secret, encoding: SecretEncoding): Key {
  if (secret.reveal().trim() === '') throw emptySecret();
  if (keyOfPair.test(secret.reveal()) || isPublicDer(secret)) throw secretOfKeyPair();
  const bytes = secret.revealBytes() ?? secretBytes(secret.reveal(), encoding);
  if (bytes === undefined) throw secretNotEncoded(encoding);
  if (bytes.length === 0) throw emptySecret();
  return { secret, material: createSecretKey(bytes) };
}

/** The tag of a sequence, with which every key and certificate in DER begins. */
const derSequence = 0x30;

/** The length of an Ed25519 key in bytes, the shortest public key in DER. */
const shortestPublicDer = 44;

function isPublicDer(secret: Secret): boolean {
  const bytes = secret.revealBytes() ?? decodeHexOrBase64(secret.reveal().replace(/^\s*whsec_/, ''));
  if (bytes[0] !== derSequence || bytes.length < shortestPublicDer) return false;
  const key = bufferOf(bytes);
  return (
    canRead(() => createPublicKey({ key, format: 'der', type: 'spki' })) ||
    canRead(() => createPublicKey({ key, format: 'der', type: 'pkcs1' })) ||
    canRead(() => new X509Certificate(key).publicKey)
  );
}

function canRead(read: () => KeyObject): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a PEM, a JWK, `whpk_…`, `whsk_…`, or in hex or base64: DER, the 32 bytes of an Ed25519 public key, the
 * 64 of a private key with its public half, or the 65 of a P-256 point. A secret that is given as bytes is not
 * decoded. Throws a `ConfigError` for anything else, and for a key of another algorithm.
 */
export function asymmetricKey(secret: Secret, algorithm: Algorithm): Key {
  const text = secret.reveal();
  if (text.trim() === '') throw emptySecret();
  const material = hasKeyMarker(secret)
    ? readMarkedKey(text)
    : readUnmarkedKey(secret.revealBytes() ?? decodeHexOrBase64(text));
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

/** Whether the text itself tells its form: a JWK, a PEM, `whpk_` or `whsk_`. Of keys in bytes only a PEM does. */
const hasKeyMarker = (secret: Secret): boolean =>
  secret.revealBytes() === undefined
    ? /^\s*\{|-----BEGIN |^\s*wh[sp]k_/.test(secret.reveal())
    : secret.reveal().includes('-----BEGIN ');

/** Tells the form by the length: an uncompressed P-256 point is 0x04 with two coordinates of 32 bytes (SEC 1). */
function readUnmarkedKey(unmarked: Uint8Array): KeyObject {
  const bytes = bufferOf(unmarked);
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

/** Throws a `ConfigError` for a damaged key, which must not be taken for a shared secret. */
function readMarkedKey(text: string): KeyObject {
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
  const isPublic = text.startsWith('whpk_');
  const bytes = secretBytes(text.slice('whpk_'.length), 'base64');
  if (bytes?.length === 32) return isPublic ? ed25519Public(bytes) : ed25519Private(bytes);
  if (bytes?.length === 64 && !isPublic) return ed25519Pair(bytes);
  throw unreadableWebhookKey();
}

function ed25519Public(bytes: Buffer): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  return parseKey(() => createPublicKey({ key: jwk, format: 'jwk' }));
}

/** RFC 8410, section 7: these bytes precede the seed of a private key in PKCS #8. */
const pkcs8Header = Buffer.from('302e020100300506032b657004220420', 'hex');

const ed25519Private = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Header, seed]), format: 'der', type: 'pkcs8' });

/** libsodium keeps a private key as the seed followed by the public key. */
function ed25519Pair(bytes: Buffer): KeyObject {
  const material = ed25519Private(bytes.subarray(0, 32));
  const derived = createPublicKey(material).export({ format: 'jwk' }).x;
  if (derived === bytes.subarray(32).toString('base64url')) return material;
  throw keyHalvesDiffer();
}

/** The errors of node's key readers may quote the key, so only their name is kept. */
function parseKey(parse: () => KeyObject): KeyObject {
  try {
    return parse();
  } catch (cause) {
    throw unreadableKey(cause instanceof Error ? cause.name : undefined);
  }
}

/** Reads hex, or base64 or base64url with any white space and with or without padding; empty for any other text. */
function decodeHexOrBase64(text: string): Uint8Array {
  const base64 = text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/');
  return secretBytes(text.trim(), 'hex') ?? secretBytes(base64, 'base64') ?? Buffer.alloc(0);
}

/** Undefined for a text that is not in this encoding. */
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

/** Secrets are often copied without their padding, so it may be missing, unlike that of a signature. */
const padded = (text: string): string =>
  text.endsWith('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
