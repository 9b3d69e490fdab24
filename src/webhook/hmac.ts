import { createHmac } from 'node:crypto';
import { equal } from './equal.ts';
import type { Key } from './scheme.ts';

export const algorithms = ['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const;

export type Algorithm = (typeof algorithms)[number];

const hashes = { 'hmac-sha1': 'sha1', 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const;

export const macLength: Readonly<Record<Algorithm, number>> = {
  'hmac-sha1': 20,
  'hmac-sha256': 32,
  'hmac-sha512': 64,
};

/** Over the parts one after the other: the body is never copied, and never decoded. */
export function hmac(algorithm: Algorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac(hashes[algorithm], key.material);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Index of the first key that made one of the candidates, or -1. Always tries every key with every candidate. */
export function matchingKey(
  algorithm: Algorithm,
  keys: readonly Key[],
  parts: readonly Uint8Array[],
  candidates: readonly Uint8Array[],
): number {
  return keys
    .map((key) => {
      const expected = hmac(algorithm, key, parts);
      return candidates.map((given) => equal(expected, given)).includes(true);
    })
    .indexOf(true);
}
