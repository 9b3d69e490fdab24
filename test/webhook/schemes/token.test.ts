import { expect, test } from 'vitest';
import { messageAndHint } from '../../support/described.ts';
import { ConfigError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, type Headers } from '../delivery.ts';

const token = schemeNamed('token');
const keys = [token.key(new Secret('Correct-Horse'))];
const take = (headers: Headers, scheme = token) => scheme.authenticate(delivered(headers), keys);

test.each(['correct-horse', 'Correct-Hors', 'Correct-Horse ', 'Correct-Horse2', '"Correct-Horse"', ' '])(
  'only the exact token is accepted: %j',
  (value) => {
    expect(take([['X-Webhook-Token', 'Correct-Horse']])).toEqual({ ok: true, key: 0 });
    expect(take([['X-Webhook-Token', value]])).toMatchObject({ ok: false, reason: 'wrong_credential' });
  },
);

test('a token of characters beyond ASCII is compared as the bytes that are sent', () => {
  const key = token.key(new Secret('clé'));
  const bytes = Buffer.from('clé').toString('latin1');
  expect(token.sign({ method: 'POST', url: '', body: Buffer.from(''), id: '' }, key, 0)).toEqual([
    ['x-webhook-token', bytes],
  ]);
  const arrived = delivered([['x-webhook-token', bytes]]);
  expect(token.authenticate(arrived, [key])).toMatchObject({ ok: true });
  expect(token.authenticate(delivered([['x-webhook-token', 'clé']]), [key]).ok).toBe(false);
});

test('another header holds the token only where it is named, and then only that one', () => {
  const own = schemeNamed('token', { tokenHeader: 'X-Api-Token' });
  expect(own.credentialHeaders).toEqual(['x-api-token']);
  expect(take([['x-API-token', 'Correct-Horse']], own)).toMatchObject({ ok: true });
  expect(take([['x-webhook-token', 'Correct-Horse']], own)).toMatchObject({
    reason: 'missing_credential',
    detail: 'the header x-api-token is missing',
  });
  expect(take([['x-api-token', 'Correct-Horse']])).toMatchObject({ reason: 'missing_credential' });
  const twice: Headers = [
    ['x-api-token', 'Correct-Horse'],
    ['X-Api-Token', 'Correct-Horse'],
  ];
  expect(take(twice, own)).toMatchObject({ reason: 'repeated_credential' });
});

test.each(['', ' Correct', 'Correct ', 'a\nb', 'a\u0000b', 'a\u007fb', '\t'])(
  'a token that no header can carry is a configuration error: %j',
  (text) => {
    expect(() => token.key(new Secret(text))).toThrow(ConfigError);
    expect(messageAndHint(() => token.key(new Secret(text)))).toContain('the webhook token ');
  },
);
