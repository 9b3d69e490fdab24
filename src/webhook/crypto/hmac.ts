import { createHmac } from 'node:crypto';
import { ed25519Matches } from './ed25519.ts';
import { equalMacs } from './constant-time-equal.ts';
import type { Key } from '../scheme.ts';

export const algorithms = ['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const;

export type Algorithm = (typeof algorithms)[number];

const hashes = { 'hmac-sha1': 'sha1', 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const;

export const macLength: Readonly<Record<Algorithm, number>> = {
  'hmac-sha1': 20,
  'hmac-sha256': 32,
  'hmac-sha512': 64,
};

/** The HMAC of the parts, one after the other: so the body is neither copied nor decoded. */
export function hmac(algorithm: Algorithm, key: Key, parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac(hashes[algorithm], key.material);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** The decoded signatures of a delivery: those made with secrets, and those made with asymmetric keys. */
export interface ParsedSignatures {
  readonly macs: readonly Uint8Array[];
  readonly ed25519?: readonly Uint8Array[];
}

/** Index of the first key that made one of the signatures, or -1. Every key is tried with every signature of its kind. */
export function matchingKey(
  algorithm: Algorithm,
  keys: readonly Key[],
  parts: readonly Uint8Array[],
  { macs, ed25519 = [] }: ParsedSignatures,
): number {
  return keys
    .map((key) => {
      if (key.material.type !== 'secret') {
        return ed25519.map((signature) => ed25519Matches(key, parts, signature)).includes(true);
      }
      const expected = hmac(algorithm, key, parts);
      return macs.map((mac) => equalMacs(expected, mac)).includes(true);
    })
    .indexOf(true);
}
