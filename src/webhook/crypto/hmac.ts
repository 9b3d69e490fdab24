import { createHmac } from 'node:crypto';
import type { Key } from '../scheme.ts';

export const hmacAlgorithms = ['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const;

export type HmacAlgorithm = (typeof hmacAlgorithms)[number];

const hashes = { 'hmac-sha1': 'sha1', 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const;

export const macLength: Readonly<Record<HmacAlgorithm, number>> = {
  'hmac-sha1': 20,
  'hmac-sha256': 32,
  'hmac-sha512': 64,
};

/** The HMAC of the parts, one after the other: so the body is neither copied nor decoded. */
export function hmac(algorithm: HmacAlgorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac(hashes[algorithm], key.material);
  for (const part of parts) mac.update(part);
  return mac.digest();
}
