import { createSecretKey } from 'node:crypto';
import { bufferOf } from '../../json/bytes.ts';
import type { Secret } from '../../secret.ts';
import { configError } from '../problems.ts';
import type { Key } from '../scheme.ts';
import type { Encoding, SecretEncoding } from '../scheme-options.ts';

/** Throws a `ConfigError` for a secret that is empty or not in this encoding; one that was given as bytes has none. */
export function symmetricKey(secret: Secret, encoding: SecretEncoding): Key {
  if (secret.reveal().trim() === '') throw configError({ kind: 'empty-secret' });
  // A public key is known to everybody: as a shared secret it would prove nothing.
  if (secret.reveal().includes('-----BEGIN ')) {
    throw configError({ kind: 'secret-in-pem' });
  }
  const bytes = secret.revealBytes() ?? secretBytes(secret.reveal(), encoding);
  if (bytes === undefined) throw configError({ kind: 'secret-not-encoded', encoding });
  if (bytes.length === 0) throw configError({ kind: 'empty-secret' });
  return { secret, material: createSecretKey(bytes) };
}

/** The key's bytes; undefined for a secret that is not in this encoding. */
export function secretBytes(text: string, encoding: SecretEncoding): Buffer | undefined {
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

export function encode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'hex-upper') return bufferOf(bytes).toString('hex').toUpperCase();
  return bufferOf(bytes).toString(encoding);
}

/**
 * The bytes that `text` encodes; undefined unless it is what `encode` would write for them: node's own decoding stops at, or
 * skips, characters that it does not know. Hex is read in any case; base64 is padded, base64url is not.
 */
export function decode(text: string, encoding: Encoding): Buffer | undefined {
  const isHex = encoding === 'hex' || encoding === 'hex-upper';
  const bytes = Buffer.from(text, isHex ? 'hex' : encoding);
  const written = isHex ? text.toLowerCase() : text;
  return bytes.toString(isHex ? 'hex' : encoding) === written ? bytes : undefined;
}
