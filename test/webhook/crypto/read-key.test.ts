import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { ConfigError, describe } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { asymmetricKey } from '../../../src/webhook/crypto/read-key.ts';

const pair = generateKeyPairSync('ed25519');
const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const privatePem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const jwk = pair.privateKey.export({ format: 'jwk' });
const half = (name: 'x' | 'd') => Buffer.from(jwk[name] ?? '', 'base64url');
const both = Buffer.concat([half('d'), half('x')]).toString('base64');

const read = (text: string) => asymmetricKey(new Secret(text), 'ed25519').material;
const x = (text: string) => {
  const material = read(text);
  return (material.type === 'private' ? createPublicKey(material) : material).export({ format: 'jwk' }).x;
};

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
  expect(read(text).type).toBe(type);
  expect(x(text)).toBe(jwk.x);
});

test.each([
  ['a public key with a private half', `whpk_${both}`, 'not an Ed25519 key in base64'],
  ['no base64', 'whsk_not base64', 'not an Ed25519 key in base64'],
  ['no base64', 'whpk_not base64', 'not an Ed25519 key in base64'],
  ['too short', `whsk_${half('d').subarray(1).toString('base64')}`, 'not an Ed25519 key in base64'],
  ['two keys', `whsk_${Buffer.concat([half('d'), half('d')]).toString('base64')}`, 'do not belong together'],
  ['half a PEM', pem.slice(0, 60), 'the key cannot be read'],
  ['half a JWK', '{"kty":"OKP"', 'the key cannot be read'],
  ['a JWK of a shared secret', '{"kty":"oct","k":"c2VjcmV0"}', 'the key cannot be read'],
])('a damaged key is an error that does not quote it: %s', (_, text, words) => {
  let thrown: unknown;
  try {
    read(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ConfigError);
  const { message, hint } = describe(thrown);
  expect(message).toContain(words);
  const { cause, details } = thrown as ConfigError;
  expect(`${message}${hint ?? ''}${String(cause)}${JSON.stringify(details)}`).not.toContain(
    text.slice(5, 15),
  );
  if (words === 'the key cannot be read') {
    expect(hint).toContain('PEM or JWK');
    expect(cause).toMatch(/Error$/);
  }
});
