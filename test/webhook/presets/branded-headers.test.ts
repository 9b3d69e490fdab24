import { expect, test } from 'vitest';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, outgoing } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const standard = schemeNamed('standard-webhooks');
const svix = schemeNamed('svix');
const acme = schemeNamed('standard-webhooks', { headerPrefix: 'Acme' });

const signed = (scheme: typeof svix) => scheme.sign(outgoing(), keyOf(scheme, secret), now);
const take = (scheme: typeof svix, headers: Headers) =>
  verify(delivered(headers), scheme, [keyOf(scheme, secret)], now);

test('svix takes its own headers and the unbranded ones', () => {
  for (const headers of [signed(svix), signed(standard)]) {
    expect(take(svix, headers)).toMatchObject({ ok: true, nonce: outgoing().id, timestamp: now });
  }
  expect(new Set(svix.credentialHeaders)).toEqual(new Set(['svix-signature', 'webhook-signature']));
});

test('standard-webhooks takes branded headers only when they are asked for', () => {
  expect(take(standard, signed(svix))).toMatchObject({ reason: 'missing_credential' });
  expect(take(standard, signed(acme))).toMatchObject({ reason: 'missing_credential' });
  expect(signed(acme).map(([name]) => name)).toEqual(['acme-id', 'acme-timestamp', 'acme-signature']);
  for (const headers of [signed(acme), signed(standard)]) {
    expect(take(acme, headers)).toMatchObject({ ok: true });
  }
  expect(take(acme, signed(svix))).toMatchObject({ reason: 'missing_credential' });
});

test('names are never mixed: the first family whose signature came is checked, and it alone', () => {
  const [own, unbranded] = [signed(svix), signed(standard)];
  const only = (headers: Headers, part: string) => headers.filter(([name]) => name.endsWith(part));
  const mixed = [...only(unbranded, '-id'), ...only(unbranded, '-timestamp'), ...only(own, '-signature')];
  expect(take(svix, mixed).ok).toBe(false);
  expect(take(svix, [['svix-signature', 'v1,AAAA'], ...unbranded])).toMatchObject({
    reason: 'malformed_credential',
  });
  expect(take(svix, [...own, ['webhook-signature', 'v1,AAAA']])).toMatchObject({ ok: true });
  expect(take(svix, [...unbranded, ...only(unbranded, '-signature')])).toMatchObject({
    reason: 'repeated_credential',
  });
});
