import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Algorithm } from '../../../src/webhook/scheme-options.ts';
import { ConfigError, describe } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { signatureOf } from '../../../src/webhook/crypto/signature.ts';
import { asymmetricKey } from '../../../src/webhook/crypto/read-key.ts';

const ed = generateKeyPairSync('ed25519');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'der' });
const rawOf = (key: KeyObject, ...names: readonly ('x' | 'y' | 'd')[]) =>
  Buffer.concat(names.map((name) => Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url')));
const point = Buffer.concat([Buffer.of(4), rawOf(ec.publicKey, 'x', 'y')]);
const pair = rawOf(ed.privateKey, 'd', 'x');

const read = (text: string, algorithm: Algorithm) => asymmetricKey(new Secret(text), algorithm);
const failure = (text: string, algorithm: Algorithm): ConfigError => {
  try {
    read(text, algorithm);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was read');
};

test.each<[string, Buffer, Algorithm, KeyObject]>([
  ['the 32 bytes of an Ed25519 public key', rawOf(ed.publicKey, 'x'), 'ed25519', ed.publicKey],
  ['its DER', spki(ed.publicKey), 'ed25519', ed.publicKey],
  ['a P-256 point', point, 'ecdsa-p256-sha256', ec.publicKey],
  ['its DER', spki(ec.publicKey), 'ecdsa-p256-sha256-der', ec.publicKey],
])('%s is read in hex and in every kind of base64', (_, bytes, algorithm, key) => {
  const base64 = bytes.toString('base64');
  for (const text of [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ` ${bytes.toString('hex')}\n`,
    base64,
    bytes.toString('base64url'),
    `${base64.slice(0, 20)}\n  ${base64.slice(20)}\n`,
  ]) {
    expect(spki(read(text, algorithm).material), text).toEqual(spki(key));
  }
});

test.each<[string, Buffer, Algorithm]>([
  ['an Ed25519 key with its public half', pair, 'ed25519'],
  ['an Ed25519 key in DER', pkcs8(ed.privateKey), 'ed25519'],
  ['a P-256 key in DER', pkcs8(ec.privateKey), 'ecdsa-p256-sha256-der'],
])('a private key is read, and signs: %s', (_, bytes, algorithm) => {
  const signed = Buffer.from('content');
  for (const form of ['hex', 'base64'] as const) {
    const key = read(bytes.toString(form), algorithm);
    const signature = signatureOf(algorithm, key, [signed]);
    const isEd = algorithm === 'ed25519';
    expect(verify(isEd ? null : 'sha256', signed, isEd ? ed.publicKey : ec.publicKey, signature)).toBe(true);
  }
});

test('what is nearly a key is an error', () => {
  const otherFormat = Buffer.concat([Buffer.of(5), point.subarray(1)]);
  const foreignHalf = Buffer.concat([pair.subarray(0, 32), Buffer.alloc(32, 1)]);
  const noPoint = Buffer.alloc(65, 4);
  const short = [pair.subarray(0, 63), pair.subarray(0, 31), point.subarray(0, 64)];
  for (const bytes of [otherFormat, foreignHalf, noPoint, ...short]) {
    expect(describe(failure(bytes.toString('hex'), 'ed25519')).message).toMatch(
      /cannot be read|do not belong together/,
    );
  }
  for (const text of ['', ' ', '\n\t']) {
    expect(describe(failure(text, 'ed25519')).message).toBe('the webhook secret is empty');
  }
  expect(describe(failure('not a key!', 'ed25519')).message).toBe('the key cannot be read');
});

test('a key of another algorithm is named, and what is needed', () => {
  const rsa = (modulusLength: number) =>
    generateKeyPairSync('rsa', { modulusLength })
      .publicKey.export({ type: 'spki', format: 'pem' })
      .toString();
  const p384 = spki(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey).toString('base64');
  for (const [text, algorithm, found, needed] of [
    [rsa(1024), 'rsa-v1_5-sha256', 'an RSA key of 1024 bits', 'an RSA key of at least 2048 bits'],
    [rsa(2048), 'ed25519', "of type 'rsa'", 'an Ed25519 key'],
    [p384, 'ecdsa-p256-sha256', "of type 'secp384r1'", 'a P-256 key'],
    [spki(ed.publicKey).toString('hex'), 'rsa-pss-sha512', "of type 'ed25519'", 'at least 2048 bits'],
  ] as const) {
    const { message, hint } = describe(failure(text, algorithm));
    expect(message).toBe(`the key is ${found}, and ${algorithm} needs another`);
    expect(hint).toContain(needed);
  }
});
