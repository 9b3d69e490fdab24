import { describe, expect, it } from 'vitest';
import { askedWaitMs } from '../../../src/service/client/rate-limit.ts';
import { rateLimitDelay } from '../../../src/service/client/retry.ts';
import type { Json } from '../../../src/json/exact.ts';

const now = Date.UTC(2026, 0, 15, 12);
const unix = now / 1000;

describe('the wait that headers ask for', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '25' }, 25_000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': 'Thu, 15 Jan 2026 12:00:25 GMT' }, 25_000],
    [{ 'retry-after': String(unix + 25) }, 25_000],
    [{ 'retry-after': String(now + 25_000) }, 25_000],
    [{ 'retry-after': '25s' }, 25_000],
    [{ 'retry-after-ms': '2500' }, 2500],
    [{ ratelimit: '"requests";r=0;t=25' }, 25_000],
    [{ ratelimit: '"burst";r=7;t=2, "daily";r=0;t=25' }, 25_000],
    [{ ratelimit: '"burst";r=0;t=2, "daily";r=900;t=40000' }, 2000],
    [{ ratelimit: 'limit=100, remaining=0, reset=25' }, 25_000],
    [{ ratelimit: '"requests";r=5;t=25' }, undefined],
    [{ 'ratelimit-reset': '25', 'ratelimit-remaining': '0' }, 25_000],
    [{ 'x-ratelimit-reset': '25' }, 25_000],
    [{ 'x-ratelimit-reset': String(unix + 25) }, 25_000],
    [{ 'x-ratelimit-reset': String(now + 25_000) }, 25_000],
    [{ 'x-ratelimit-reset': '2026-01-15T12:00:25Z' }, 25_000],
    [{ 'x-rate-limit-reset': String(unix + 25), 'x-rate-limit-remaining': '0' }, 25_000],
    [{ 'x-ratelimit-reset-after': '25.5' }, 25_500],
    [{ 'x-ratelimit-reset-requests': '1m0.5s', 'x-ratelimit-remaining-requests': '0' }, 60_500],
    // A limit that is not used up is not what holds.
    [{ 'x-ratelimit-reset': '25', 'x-ratelimit-remaining': '4' }, undefined],
    // The most certain one goes first.
    [{ 'retry-after': '5', 'x-ratelimit-reset': '3000' }, 5000],
    [{ 'retry-after': '0' }, 0],
    // A window that has opened already does not say why the service refuses.
    [{ 'x-ratelimit-reset': String(unix - 5) }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'x-ratelimit-reset': 'never' }, undefined],
    [{}, undefined],
  ])('%o', (headers, ms) => {
    expect(askedWaitMs(headers, undefined, now)).toBe(ms);
  });

  it('is held against the clock that asks for more', () => {
    const headers = { 'x-ratelimit-reset': String(unix + 25), date: 'Thu, 15 Jan 2026 11:59:00 GMT' };
    expect(askedWaitMs(headers, undefined, now)).toBe(85_000);
    expect(askedWaitMs({ ...headers, date: 'Thu, 15 Jan 2026 12:01:00 GMT' }, undefined, now)).toBe(25_000);
  });
});

describe('the wait that a body asks for', () => {
  it.each<[Json, number | undefined]>([
    [{ message: 'You are being rate limited.', retry_after: 1.5 }, 1500],
    [{ ok: false, parameters: { retry_after: 35 } }, 35_000],
    [{ error: { details: [{ '@type': 'x/google.rpc.RetryInfo', retryDelay: '25s' }] } }, 25_000],
    [{ retryAfterMs: 2500 }, 2500],
    [{ reset_at: unix + 25 }, 25_000],
    [{ detail: 'Request was throttled. Expected available in 25 seconds.' }, 25_000],
    [{ error: { message: 'Please try again in 20s.' } }, 20_000],
    [{ error: { message: 'Please try again in 250ms.' } }, 250],
    [{ message: 'wait 2 minutes' }, 120_000],
    [{ message: 'try again at 2026-01-15' }, undefined],
    [{ message: 'max rate limit 100 exceeded within 20 secs' }, undefined],
    ['retry after 7', 7000],
    [null, undefined],
  ])('%o', (body, ms) => {
    expect(askedWaitMs({}, body, now)).toBe(ms);
  });

  it('counts behind what the headers ask for', () => {
    expect(askedWaitMs({ 'retry-after': '5' }, { retry_after: 9 }, now)).toBe(5000);
  });
});

it.each([1, 2, 3, 5, 6, 20])('without a word of it, %d retries reach past a minute', (retries) => {
  for (const random of [0, 0.5, 0.999]) {
    const delays = Array.from({ length: retries }, (_, retry) =>
      rateLimitDelay(retry, retries, () => random),
    );
    const all = delays.reduce((sum, delay) => sum + delay, 0);
    expect(all).toBeGreaterThan(60_000);
    expect(Math.max(...delays)).toBeLessThan(90_000);
    if (retries <= 6) expect(all).toBeLessThan(90_000);
  }
});
