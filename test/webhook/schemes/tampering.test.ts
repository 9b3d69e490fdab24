import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/webhook/delivery.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, outgoing, sampleBody } from '../delivery.ts';
import { type Case, cases, keyOf, untested } from './every.ts';

const now = Date.UTC(2026, 0, 15, 12);

test('every scheme is in the table of cases', () => expect(untested).toEqual([]));

interface Signed extends Case {
  readonly headers: Headers;
}

const signed: readonly Signed[] = cases.map((one) => ({
  ...one,
  headers: one.scheme.sign(outgoing(), keyOf(one.scheme, one.secret), now),
}));

const check = ({ scheme, secret }: Case, delivery: Delivery, at = now) =>
  verify(delivery, scheme, [keyOf(scheme, secret)], at);

/** The headers with one credential rewritten. */
const rewritten = (one: Signed, change: (value: string) => string): Headers =>
  one.headers.map(([name, value]) =>
    name === one.scheme.credentialHeaders[0] ? [name, change(value)] : [name, value],
  );

const withSmallHex = (headers: Headers): Headers =>
  headers.map(([name, value]) => [name, value.replace(/\b[\da-f]{40,}\b/gi, (hex) => hex.toLowerCase())]);

test.each(signed)('$name: header names and hex are compared without case, other values are not', (one) => {
  const shouted = one.headers.map(([name, value]) => [name.toUpperCase(), value] as const);
  expect(check(one, delivered(shouted))).toMatchObject({ ok: true });
  for (const change of [
    (value: string) => value.toUpperCase(),
    (value: string) => value.toLowerCase(),
    (value: string) => value.replace(/[a-f](?=[^a-f]*$)/, (letter) => letter.toUpperCase()),
  ]) {
    const headers = rewritten(one, change);
    const isOther = !isDeepStrictEqual(withSmallHex(headers), withSmallHex(one.headers));
    expect(check(one, delivered(headers)).ok).toBe(!isOther);
  }
});

test.each(signed.filter((one) => one.coversBody))('$name: another body is rejected', (one) => {
  const bodies = [
    Buffer.from(sampleBody.toString().replace('lead_1', 'lead_2')),
    Buffer.concat([sampleBody, Buffer.from('\n')]),
    Buffer.concat([Buffer.from('\ufeff'), sampleBody]),
    sampleBody.subarray(0, -1),
    Buffer.alloc(0),
  ];
  for (const body of bodies) {
    expect(check(one, { ...delivered(one.headers), body })).toMatchObject({ reason: 'wrong_credential' });
  }
});

test.each(signed)(
  '$name: another secret is rejected, and the index of a second key that matches is returned',
  (one) => {
    const [right, wrong] = [keyOf(one.scheme, one.secret), keyOf(one.scheme, one.other)];
    const arrived = delivered(one.headers);
    expect(verify(arrived, one.scheme, [wrong], now)).toMatchObject({ reason: 'wrong_credential' });
    expect(verify(arrived, one.scheme, [], now)).toMatchObject({ reason: 'wrong_credential' });
    expect(verify(arrived, one.scheme, [wrong, right], now)).toMatchObject({ ok: true, key: 1 });
  },
);

test.each(signed)(
  '$name: a delivery with a header dropped, emptied, repeated or changed is rejected',
  (one) => {
    for (const [i, [name, value]] of one.headers.entries()) {
      const without = one.headers.toSpliced(i, 1);
      expect(check(one, delivered(without)).ok, `${name} dropped`).toBe(false);
      expect(check(one, delivered(one.headers.with(i, [name, '']))).ok, `${name} emptied`).toBe(false);
      expect(check(one, delivered([...one.headers, [name, value]])), `${name} doubled`).toMatchObject({
        reason: 'repeated_credential',
      });
      const upper = [name.toUpperCase(), 'other'] as const;
      expect(check(one, delivered([upper, ...one.headers])), `${name} doubled in front`).toMatchObject({
        ok: false,
      });
      const folded = one.headers.with(i, [name, `${value}, ${value}`]);
      expect(check(one, delivered(folded)).ok, `${name} folded`).toBe(false);
      const flipped = value.startsWith('1') ? `2${value.slice(1)}` : `1${value.slice(1)}`;
      expect(check(one, delivered(one.headers.with(i, [name, flipped]))).ok, `${name} flipped`).toBe(false);
    }
  },
);

test.each(signed)('$name: a credential that is cut, lengthened or random is rejected', (one) => {
  for (const change of [
    (value: string) => value.slice(0, -1),
    (value: string) => value.slice(0, Math.floor(value.length / 2)),
    (value: string) => `${value}0`,
    (value: string) => `${value}zz`,
    (value: string) => `${value}=`,
    (value: string) => `_${value}`,
    (value: string) => `${value}\u0000`,
    (value: string) => value.replace(/.$/, 'g'),
    (value: string) => value.replace(/[^,=:]*$/, ''),
  ]) {
    const headers = rewritten(one, change);
    if (isDeepStrictEqual(headers, one.headers)) continue;
    const arrived = check(one, delivered(headers));
    expect(arrived.ok, headers.map((pair) => pair.join(': ')).join('\n')).toBe(false);
  }
});

test.each(signed.filter((one) => one.scheme.toleranceMs !== undefined))(
  '$name: a time too old, too far ahead, or rewritten is rejected',
  (one) => {
    const arrived = delivered(one.headers);
    const tolerance = { twitch: 600_000, calendly: 180_000, workos: 180_000 }[one.name] ?? 300_000;
    expect(check(one, arrived, now + tolerance - 1000)).toMatchObject({ ok: true });
    expect(check(one, arrived, now - tolerance + 1000)).toMatchObject({ ok: true });
    expect(check(one, arrived, now + tolerance + 1000)).toMatchObject({ reason: 'stale_timestamp' });
    expect(check(one, arrived, now - tolerance - 1000)).toMatchObject({ reason: 'future_timestamp' });
    const later = one.headers.map(
      ([name, value]) =>
        [name, value.replace('1768478400', '1768478401').replace('T12:00', 'T12:01')] as const,
    );
    expect(later).not.toEqual(one.headers);
    expect(check(one, delivered(later))).toMatchObject({ reason: 'wrong_credential' });
  },
);

test.each(signed.filter((one) => one.scheme.signsUrl))(
  '$name: another method or URL is rejected, also with another protocol or host',
  (one) => {
    const arrived = delivered(one.headers);
    const elsewhere = { path: '/leads?source=z', url: 'https://hooks.example.com/leads?source=z' };
    expect(check(one, { ...arrived, ...elsewhere })).toMatchObject({ reason: 'wrong_credential' });
    if (one.name === 'custom ed25519') return;
    for (const [from, to] of [
      ['https:', 'http:'],
      ['hooks.', 'hook.'],
    ] as const) {
      const url = arrived.url.replace(from, to);
      expect(check(one, { ...arrived, url })).toMatchObject({ reason: 'wrong_credential' });
    }
    if (one.name === 'square') return;
    expect(check(one, { ...arrived, method: 'PUT' })).toMatchObject({ reason: 'wrong_credential' });
  },
);
