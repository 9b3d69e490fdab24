import { expect, test } from 'vitest';
import type { PostResult } from '../../src/http/client/poster.ts';
import { waitsAskedFor } from '../../src/sender/sender.ts';

const now = Date.UTC(2026, 0, 15);
const schedule = waitsAskedFor([1000, 5000], () => now);

const answered = (status: number, headers: Record<string, string> = {}): PostResult => ({
  ok: true,
  status,
  headers,
  body: Buffer.alloc(0),
  durationMs: 1,
});

test('waits are as they are given, and end after the last', () => {
  const silent: PostResult = { ok: false, code: 'ECONNREFUSED', detail: '', durationMs: 1 };
  expect([1, 2, 3].map((number) => schedule(number, silent))).toEqual([1000, 5000, undefined]);
});

test.each([
  ['seconds', '7', 7000],
  ['less than the wait', '0', 1000],
  ['a date', new Date(now + 60_000).toUTCString(), 60_000],
  ['what is neither', 'soon', 1000],
  ['more than ten minutes, which gives the delivery up', '86400', undefined],
])('Retry-After may be %s', (_, value, expected) => {
  expect(schedule(1, answered(503, { 'retry-after': value }))).toBe(expected);
});

test('a date is held against the clock that asks for more', () => {
  const headers = { 'retry-after': new Date(now).toUTCString(), date: new Date(now - 60_000).toUTCString() };
  expect(schedule(1, answered(503, headers))).toBe(60_000);
});

test('410 Gone is never asked again', () => {
  expect(schedule(1, answered(410))).toBeUndefined();
});
