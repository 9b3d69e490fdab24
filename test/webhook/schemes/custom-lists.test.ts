import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import type { SchemeOptions } from '../../../src/webhook/scheme-options.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, sampleBody } from '../delivery.ts';

const now = Date.UTC(2026, 0, 15, 12);
const seconds = String(now / 1000);
const signature = { signatureHeader: 'X-Sig' };
const text = sampleBody.toString();
const hex = (content: string) => createHmac('sha256', 's3cret').update(content).digest('hex');

const take = (options: SchemeOptions, headers: Headers, secret = 's3cret') => {
  const scheme = schemeNamed('custom', { ...signature, ...options });
  return verify(delivered(headers), scheme, [scheme.key(new Secret(secret))], now);
};

test('a header that comes several times is taken only where the scheme says so', () => {
  const headers: Headers = [
    ['x-sig', 'f'.repeat(64)],
    ['X-Sig', hex(text)],
  ];
  expect(take({}, headers)).toMatchObject({ reason: 'repeated_credential' });
  expect(take({ separator: ',' }, headers)).toMatchObject({ reason: 'repeated_credential' });
  expect(take({ signatureHeaders: 'several' }, headers)).toMatchObject({ ok: true });
  expect(take({ signatureHeaders: 'several' }, [['x-sig', `potato, ${hex(text)}`]])).toMatchObject({
    ok: true,
  });
  expect(take({ signatureHeaders: 'several' }, headers.slice(0, 1))).toMatchObject({
    reason: 'wrong_credential',
  });
  expect(take({ signatureHeaders: 'several' }, [])).toMatchObject({ reason: 'missing_credential' });
  const timed = { signatureHeaders: 'several', timestampHeader: 'x-time' } as const;
  const twice: Headers = [
    ['x-sig', hex(`${seconds}.${text}`)],
    ['x-time', seconds],
    ['x-time', seconds],
  ];
  expect(take(timed, twice)).toMatchObject({ reason: 'repeated_credential' });
});
