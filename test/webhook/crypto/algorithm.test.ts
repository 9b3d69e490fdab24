import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Algorithm } from '../../../src/webhook/scheme-options.ts';
import { hasLengthOf, kindOf } from '../../../src/webhook/crypto/signature.ts';

test.each<[Algorithm, readonly number[], readonly number[]]>([
  ['hmac-sha1', [20], [0, 19, 21, 32]],
  ['hmac-sha256', [32], [20, 31, 33, 64]],
  ['hmac-sha512', [64], [32, 63, 65]],
  ['ed25519', [64], [32, 63, 65]],
  ['ecdsa-p256-sha256', [64], [63, 65, 70]],
  ['ecdsa-p256-sha256-der', [8, 70, 72], [0, 7, 73, 256]],
  ['rsa-pss-sha512', [256, 384, 1024], [64, 255, 1025]],
  ['rsa-v1_5-sha256', [256, 384, 1024], [64, 255, 1025]],
])('%s has signatures of known lengths only', (algorithm, possible, impossible) => {
  for (const length of possible) expect(hasLengthOf(algorithm, Buffer.alloc(length)), `${length}`).toBe(true);
  for (const length of impossible) {
    expect(hasLengthOf(algorithm, Buffer.alloc(length)), `${length}`).toBe(false);
  }
});

test('a key that is too weak, or of another curve, is of no kind', () => {
  expect(kindOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey)).toBe('rsa');
  expect(kindOf(generateKeyPairSync('rsa', { modulusLength: 2040 }).publicKey)).toBeUndefined();
  expect(kindOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey)).toBe('rsa-pss');
  expect(kindOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)).toBe('p256');
  expect(kindOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)).toBeUndefined();
  expect(kindOf(generateKeyPairSync('x25519').publicKey)).toBeUndefined();
});
