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

test.each([
  [{ timestampPrefix: 't=', prefix: 'v1=' }, `t=${seconds},v1=${hex(`${seconds}.${text}`)}`],
  [{ timestampPrefix: 't=', prefix: 'v1=' }, `v1=${hex(`${seconds}.${text}`)}, t=${seconds}`],
  [
    { timestampPrefix: 'ts=', prefix: 'h1=', separator: ';', signedContent: '{timestamp}:{body}' },
    `ts=${seconds};h1=${hex(`${seconds}:${text}`)}`,
  ],
  [
    { timestampPrefix: 't=', prefix: 's=', timestampFormat: 'milliseconds' as const },
    `t=${now},s=${hex(`${now}.${text}`)}`,
  ],
])('time and signature in one header: %j', (options, value) => {
  expect(take(options, [['x-sig', value]])).toMatchObject({ ok: true, timestamp: now });
  expect(take(options, [['x-sig', value.replace(/[\d]+/, '1768478401')]]).ok).toBe(false);
});

test('signatures in a list: one that cannot be read, or is another, does not spoil the one that matches', () => {
  const options = { separator: ',', prefix: 'sha256=' };
  const good = `sha256=${hex(text)}`;
  for (const other of ['sha256=potato', `sha256=${'0'.repeat(64)}`, 'sha512=abc', '', ' ']) {
    expect(take(options, [['x-sig', `${other},${good}`]]), other).toMatchObject({ ok: true });
    expect(take(options, [['x-sig', `${good}, ${other}`]]), other).toMatchObject({ ok: true });
    expect(take(options, [['x-sig', other || 'x']]).ok, other).toBe(false);
  }
});

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

test('hex is read in any case, and nothing that is no hex', () => {
  const mac = hex(text);
  const mixed = mac.replace(/^[^a-f]*[a-f]/, (start) => start.toUpperCase());
  for (const encoding of ['hex', 'hex-upper'] as const) {
    for (const sent of [mac, mac.toUpperCase(), mixed]) {
      expect(take({ encoding }, [['x-sig', sent]])).toMatchObject({ ok: true });
    }
    for (const sent of [`${mac}g`, `${mac}0`, mac.replace(/.$/, 'g'), ` ${mac.slice(1)}`]) {
      expect(take({ encoding }, [['x-sig', sent]])).toMatchObject({ reason: 'malformed_credential' });
    }
  }
});
