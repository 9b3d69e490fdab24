import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { describe } from '../../../src/messages/command-line.ts';
import { Secret } from '../../../src/secret.ts';
import { namesItsKind, readKey } from '../../../src/webhook/crypto/asymmetric-key.ts';

const pair = generateKeyPairSync('ed25519');
const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const privatePem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const jwk = pair.privateKey.export({ format: 'jwk' });
const half = (name: 'x' | 'd') => Buffer.from(jwk[name] ?? '', 'base64url');
const both = Buffer.concat([half('d'), half('x')]).toString('base64');

const x = (text: string) => {
  const { material } = readKey(text);
  return (material.type === 'private' ? createPublicKey(material) : material).export({ format: 'jwk' }).x;
};

test('a key that says what it is, is known by its start; other texts are shared secrets', () => {
  for (const text of [pem, privatePem, `# a note\n${pem}`, '{', ' \n{"kty":"oct"}', 'whpk_', '  whsk_AA']) {
    expect(namesItsKind(new Secret(text)), text).toBe(true);
  }
  for (const text of ['secret', 'a{b}', 'awhpk_AA', 'a whsk_', 'wh_pk', '']) {
    expect(namesItsKind(new Secret(text)), text).toBe(false);
  }
});

test.each([
  ['public', pem],
  ['public', `  ${pem}  `],
  ['public', pem.replaceAll('\n', '\\n')],
  ['public', `the counterpart of whsk_ is\n${pem}`],
  ['public', JSON.stringify({ ...jwk, d: undefined })],
  ['public', `\n ${JSON.stringify({ ...jwk, d: undefined })}`],
  ['public', `whpk_${half('x').toString('base64')}`],
  ['public', ` whpk_${half('x').toString('base64')}\n`],
  ['private', privatePem],
  ['private', privatePem.replaceAll('\n', '\\n')],
  ['private', JSON.stringify(jwk)],
  ['private', `whsk_${half('d').toString('base64')}`],
  ['private', `whsk_${both}`],
])('a %s key is read: %s', (type, text) => {
  expect(readKey(text).material.type).toBe(type);
  expect(x(text)).toBe(jwk.x);
});

test("a JWK's names of the key and of its algorithm are taken where they are texts", () => {
  const of = (more: object) => readKey(JSON.stringify({ kty: 'oct', k: 'c2VjcmV0', ...more }));
  expect(of({ kid: 'a', alg: 'HS256' })).toMatchObject({ id: 'a', alg: 'HS256' });
  expect(of({ kid: 7, alg: null })).toMatchObject({ id: undefined, alg: undefined });
  const bytes = Buffer.from([0xfb, 0xef, 0xff, 0xfe, 0xff, 0xbf]);
  expect(bytes.toString('base64url')).toMatch(/-.*_/);
  expect(of({ k: bytes.toString('base64url') }).material.export()).toEqual(bytes);
});

test.each([
  ['a public key with a private half', `whpk_${both}`, 'not an Ed25519 key in base64'],
  ['no base64', 'whsk_not base64', 'not an Ed25519 key in base64'],
  ['no base64', 'whpk_not base64', 'not an Ed25519 key in base64'],
  ['too short', `whsk_${half('d').subarray(1).toString('base64')}`, 'not an Ed25519 key in base64'],
  ['two keys', `whsk_${Buffer.concat([half('d'), half('d')]).toString('base64')}`, 'do not belong together'],
  ['half a PEM', pem.slice(0, 60), 'the key cannot be read'],
  ['half a JWK', '{"kty":"OKP"', 'the key cannot be read'],
  ['a JWK without a secret', '{"kty":"oct"}', 'the JWK holds no secret'],
  ['a JWK with an empty secret', '{"kty":"oct","k":""}', 'the JWK holds no secret'],
  ['a JWK whose secret is a number', '{"kty":"oct","k":5}', 'the JWK holds no secret'],
  ['a JWK whose secret is no base64', '{"kty":"oct","k":"a b"}', 'the JWK holds no secret'],
])('a damaged key is an error that does not quote it: %s', (_, text, words) => {
  let thrown: unknown;
  try {
    readKey(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ConfigError);
  const { message, hint } = describe(thrown);
  expect(message).toContain(words);
  const { cause, problem } = thrown as ConfigError;
  expect(`${hint ?? ''}${String(cause)}${JSON.stringify(problem)}`).not.toContain(text.slice(5, 15));
  if (words === 'the key cannot be read') {
    expect(hint).toContain('PEM or JWK');
    expect(cause).toMatch(/Error$/);
  }
});
