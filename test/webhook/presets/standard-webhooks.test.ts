import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, outgoing, sampleBody } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const scheme = schemeNamed('standard-webhooks');
const pair = generateKeyPairSync('ed25519');
const raw = (name: 'x' | 'd') =>
  Buffer.from(pair.privateKey.export({ format: 'jwk' })[name] ?? '', 'base64url');
const whpk = `whpk_${raw('x').toString('base64')}`;
const whsec = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const content = Buffer.concat([Buffer.from(`msg_1.${now / 1000}.`), sampleBody]);
const v1a = `v1a,${sign(null, content, pair.privateKey).toString('base64')}`;

const arrived = (signature: string, id = 'msg_1') =>
  delivered([
    ['webhook-id', id],
    ['webhook-timestamp', String(now / 1000)],
    ['webhook-signature', signature],
  ]);
const v1 = (secret: string) =>
  new Map(scheme.sign({ ...outgoing(), id: 'msg_1' }, keyOf(scheme, secret), now)).get('webhook-signature') ??
  '';

test('an Ed25519 signature is checked with a public key, and an HMAC with a secret, in one header', () => {
  const both = arrived(`${v1(whsec)} ${v1a}`);
  for (const secret of [whsec, whpk]) {
    expect(verify(both, scheme, [keyOf(scheme, secret)], now)).toMatchObject({ ok: true, nonce: 'msg_1' });
  }
  expect(verify(arrived(v1a), scheme, [keyOf(scheme, whpk)], now)).toMatchObject({ ok: true });
  expect(verify(arrived(v1a), scheme, [keyOf(scheme, whsec)], now)).toMatchObject({ ok: false });
  expect(verify(arrived(v1(whsec)), scheme, [keyOf(scheme, whpk)], now)).toMatchObject({ ok: false });
  const relabelled = [v1a.replace('v1a,', 'v1,'), v1(whsec).replace('v1,', 'v1a,')];
  for (const signature of relabelled) {
    const keys = [whsec, whpk].map((secret) => keyOf(scheme, secret));
    expect(verify(arrived(signature), scheme, keys, now)).toMatchObject({ reason: 'malformed_credential' });
  }
});

test('signatures of unknown versions are ignored, and more than 16 signatures are rejected', () => {
  const keys = [keyOf(scheme, whsec)];
  expect(verify(arrived(`v9,abc ${v1(whsec)}`), scheme, keys, now)).toMatchObject({ ok: true });
  expect(verify(arrived('v9,abc'), scheme, keys, now)).toMatchObject({ reason: 'malformed_credential' });
  const many = Array.from({ length: 17 }, () => v1(whsec)).join(' ');
  expect(verify(arrived(many), scheme, keys, now)).toMatchObject({ reason: 'malformed_credential' });
});

test('an id with a full stop is rejected although it is signed: id and time could be divided in another way', () => {
  const headers = scheme.sign({ ...outgoing(), id: 'msg.1' }, keyOf(scheme, whsec), now);
  expect(verify(delivered(headers), scheme, [keyOf(scheme, whsec)], now)).toMatchObject({
    reason: 'malformed_credential',
  });
});
