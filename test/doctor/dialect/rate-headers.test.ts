import { expect, it } from 'vitest';
import { readRateHeaders } from '../../../src/doctor/dialect/limited-requests.ts';

const now = Date.UTC(2026, 0, 1);

it.each([
  [
    { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 30) },
    60,
    0,
    30_000,
  ],
  [
    { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '7', 'ratelimit-reset': '12' },
    100,
    7,
    12_000,
  ],
  [{ 'x-rate-limit-reset': String(now + 5000) }, undefined, undefined, 5000],
])('reads %j', (headers, limit, remaining, resetMs) => {
  expect(readRateHeaders(headers, now)).toMatchObject({ limit, remaining, resetMs });
});

it('finds no rate limit in other headers', () => {
  expect(readRateHeaders({ date: 'x', 'x-request-id': '1' }, now)).toBeUndefined();
});
