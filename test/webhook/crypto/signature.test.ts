import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { messageAndHint } from '../../support/described.ts';
import { Secret } from '../../../src/secret.ts';
import { asymmetricKey, symmetricKey } from '../../../src/webhook/crypto/read-key.ts';
import { matchingKey, signatureOf } from '../../../src/webhook/crypto/signature.ts';

const parts = [Buffer.from('1.'), Buffer.from('{"id":1}')];
const signed = Buffer.concat(parts);
const shared = symmetricKey(new Secret('s'), 'utf8');
const mac = (hash: string) => createHmac(hash, 's').update(signed).digest();
const pair = generateKeyPairSync('ed25519');
const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const publicKey = asymmetricKey(new Secret(pem), 'ed25519');

test('each signature is checked by its own algorithm, with the keys that fit it', () => {
  const ed25519 = { algorithm: 'ed25519', bytes: sign(null, signed, pair.privateKey) } as const;
  const sha256 = { algorithm: 'hmac-sha256', bytes: mac('sha256') } as const;
  const sha1 = { algorithm: 'hmac-sha1', bytes: mac('sha1') } as const;
  const wrong = { algorithm: 'hmac-sha256', bytes: Buffer.alloc(32) } as const;
  const of = (...signatures: Parameters<typeof matchingKey>[2]) =>
    matchingKey([publicKey, shared], parts, signatures);
  expect(of(ed25519)).toBe(0);
  expect(of(sha256)).toBe(1);
  expect(of(wrong, sha1)).toBe(1);
  expect(of(sha1, wrong, sha256)).toBe(1);
  expect(of(wrong, { ...sha256, algorithm: 'hmac-sha1' })).toBe(-1);
  expect(of({ ...sha1, algorithm: 'hmac-sha256' }, { ...sha256, algorithm: 'hmac-sha1' })).toBe(-1);
  expect(of({ ...ed25519, algorithm: 'hmac-sha512' })).toBe(-1);
  expect(of()).toBe(-1);
});

test('a public key cannot sign, and the error says what can', () => {
  expect(messageAndHint(() => signatureOf('ed25519', publicKey, parts))).toContain(
    'verifies but cannot sign',
  );
  expect(messageAndHint(() => signatureOf('hmac-sha256', publicKey, parts))).toContain(
    'verifies but cannot sign',
  );
});
