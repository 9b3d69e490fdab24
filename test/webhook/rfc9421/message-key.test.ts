import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { said } from '../../support/said.ts';
import { Secret } from '../../../src/secret.ts';
import { algorithmsOf, parseMessageKey } from '../../../src/webhook/rfc9421/authenticate-message.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from '../delivery.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const jwk = (key: KeyObject, more: object) => JSON.stringify({ ...key.export({ format: 'jwk' }), ...more });
const algorithms = (text: string) => parseMessageKey(new Secret(text), 'utf8').algorithms;

test("a key decides its algorithms, and of an RSA key's two, its 'alg' may decide", () => {
  expect(algorithms('a shared secret')).toEqual(['hmac-sha256']);
  expect(algorithms('{"kty":"oct","k":"c2VjcmV0","alg":"RS256"}')).toEqual(['hmac-sha256']);
  expect(algorithms(pem(ec))).toEqual(['ecdsa-p256-sha256']);
  for (const alg of ['ES256', 'PS512', 'RS256', 'none']) {
    expect(algorithms(jwk(ec, { alg }))).toEqual(['ecdsa-p256-sha256']);
  }
  expect(algorithms(pem(rsa))).toEqual(['rsa-pss-sha512', 'rsa-v1_5-sha256']);
  expect(algorithms(jwk(rsa, { alg: 'PS512' }))).toEqual(['rsa-pss-sha512']);
  expect(algorithms(jwk(rsa, { alg: 'RS256' }))).toEqual(['rsa-v1_5-sha256']);
  const { publicKey: pss } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  expect(algorithms(pem(pss))).toEqual(['rsa-pss-sha512']);
});

test.each([
  ['secp384r1', pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)],
  ['x25519', pem(generateKeyPairSync('x25519').publicKey)],
  ['rsa', pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)],
  ['RS1', jwk(rsa, { alg: 'RS1' })],
])('a key that is not supported is named: %s', (type, text) => {
  expect(said(() => algorithms(text))).toContain(`a key of type '${type}' is not supported`);
});

test('a key of another scheme has no algorithm here, so nothing verifies with it', () => {
  const key = schemeNamed('github').key(new Secret('s'));
  expect(algorithmsOf(key)).toEqual([]);
  const scheme = schemeNamed('rfc9421');
  const headers = scheme.sign(outgoing(), scheme.key(new Secret('s')), 0);
  expect(scheme.authenticate(delivered(headers), [key])).toMatchObject({ reason: 'wrong_credential' });
});
