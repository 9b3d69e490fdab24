import { expect, test } from 'vitest';
import { headerRedactor } from '../../src/receiver/credentials.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { outgoing } from './delivery.ts';
import { cases, keyOf } from './schemes/every.ts';

test.each(cases)(
  '$name: its credential is redacted, whichever scheme the receiver uses',
  ({ scheme, secret }) => {
    const headers = scheme.sign(outgoing(), keyOf(scheme, secret), 0);
    for (const inForce of [scheme, unverified]) {
      const kept = headerRedactor(inForce)([['Host', 'a'], ...headers]);
      expect(kept.map(([name]) => name)).toEqual(['Host', ...headers.map(([name]) => name)]);
      expect(kept[0]).toEqual(['Host', 'a']);
      for (const [name, value] of kept) {
        if (scheme.credentialHeaders.includes(name.toLowerCase())) expect(value).toBe('[redacted]');
      }
    }
  },
);

test('credentials of other kinds are redacted too, times and ids are kept', () => {
  const names = [
    'Authorization',
    'COOKIE',
    'X-Api-Key',
    'X-Acme-Signature-V2',
    'X-Goog-IAP-JWT-Assertion',
    'X-Auth-Key',
    'X-Access-Key',
    'Ocp-Apim-Subscription-Key',
    'X-Bearer',
    'X-Client-Credentials',
    'X-Forwarded-Auth',
    'X-AuthKey',
    'X-Authentication',
    'X-Webhook-Key',
    'X-Key',
  ];
  for (const name of names) expect(headerRedactor(unverified)([[name, 'v']])).toEqual([[name, '[redacted]']]);
  const kept = [
    'webhook-id',
    'x-slack-request-timestamp',
    'user-agent',
    'content-digest',
    'X-Idempotency-Key',
    'X-Goog-Ordering-Key',
    'X-Keyboard',
    'X-Author',
    'X-Auth-Id',
    'X-Event-Key',
    'X-Original-Authority',
    'X-Goog-Authenticated-User-Email',
  ];
  for (const name of kept) {
    expect(headerRedactor(unverified)([[name, 'v']])).toEqual([[name, 'v']]);
  }
});

test('the header of the scheme is redacted whatever its name, and its id and time are kept', () => {
  const redact = headerRedactor({ credentialHeaders: ['x-sig'], plainHeaders: ['x-auth-key'] });
  const headers = redact([
    ['X-Sig', 'v'],
    ['X-Sigs', 'w'],
    ['X-Auth-Key', 'id'],
  ]);
  expect(headers).toEqual([
    ['X-Sig', '[redacted]'],
    ['X-Sigs', 'w'],
    ['X-Auth-Key', 'id'],
  ]);
});
