import { expect, it } from 'vitest';
import { retryDelay } from '../../src/service/client/retry.ts';
import { FakeClock } from '../support/clock.ts';
import { printFigure, sized } from '../support/faults.ts';
import { seeded } from '../support/faulty-service.ts';
import { leads } from '../support/run.ts';
import { scripted, sendJson } from '../support/service.ts';

const key = 'key-5f0c1b7ad9e24386';
const lead = '{"data":[{"id":"1"}],"has_more":false}';

it('promise 10: never earlier than Retry-After', async () => {
  const random = seeded(10);
  let [waits, early] = [0, 0];
  for (let round = 0; round < sized(500); round += 1) {
    const clock = new FakeClock(undefined, { hasty: true });
    const asked: number[] = [];
    const came: number[] = [];
    const service = await scripted((_request, response, nth) => {
      came.push(clock.now());
      if (nth === 3) {
        sendJson(response, lead);
        return;
      }
      const ms = Math.floor(random() * 60) * 1000;
      asked.push(clock.now() + ms);
      const value = nth === 1 ? new Date(clock.now() + ms).toUTCString() : String(ms / 1000);
      response.writeHead(nth === 2 ? 503 : 429, { 'retry-after': value }).end();
    });
    const { exitCode } = await leads(['export', '-q'], {
      env: { LEADS_API_KEY: key, LEADS_BASE_URL: service.url },
      clock,
      random: () => 0,
    });
    await service.close();
    expect(exitCode).toBe(0);
    waits += asked.length;
    early += asked.filter((until, i) => (came[i + 1] ?? Infinity) < until).length;
  }
  printFigure(
    10,
    `${waits} Retry-After in seconds and as a date, with a jitter of 0: requests before it ${early}`,
  );
  expect(early).toBe(0);
});

it('promise 10: a Retry-After beyond the deadline ends the run and says when to come back', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const service = await scripted((_request, response) => {
    response.writeHead(429, { 'retry-after': '86400' }).end('{"error":"rate_limited","message":"enough"}');
  });
  const { exitCode, stderr } = await leads(['export'], {
    env: { LEADS_API_KEY: key, LEADS_BASE_URL: service.url },
    clock,
  });
  await service.close();
  expect(exitCode).toBe(5);
  expect(service.requests).toHaveLength(1);
  expect(clock.sleeps).toEqual([]);
  expect(stderr).toContain('hint: try again at 2026-01-16T12:00:00Z');
});

it('promise 10: full jitter', () => {
  const draws = 10_000;
  const random = seeded(1);
  let outside = 0;
  const means: string[] = [];
  for (const retry of [0, 1, 3, 5, 8]) {
    const most = Math.min(30_000, 500 * 2 ** retry);
    const delays = Array.from({ length: draws / 5 }, () => retryDelay(retry, random));
    outside += delays.filter((ms) => ms < 0 || ms > most).length;
    const mean = delays.reduce((sum, ms) => sum + ms, 0) / delays.length / most;
    // Uniform on [0, most]: the mean of 2,000 lies within 4 standard errors of a half, the ends are reached.
    expect(Math.abs(mean - 0.5)).toBeLessThan((4 * Math.sqrt(1 / 12)) / Math.sqrt(delays.length));
    expect(Math.min(...delays)).toBeLessThan(most * 0.01);
    expect(Math.max(...delays)).toBeGreaterThan(most * 0.99);
    means.push(mean.toFixed(2));
  }
  printFigure(
    10,
    `${draws} draws of the delay: outside [0, min(cap, base·2ⁿ)] ${outside}, means ${means.join(' ')} of it`,
  );
  expect(outside).toBe(0);
});

it('promise 10: a service that stays down is given up after its retries and deadline', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const begun = clock.now();
  const service = await scripted((_request, response) => void response.writeHead(503).end());
  const env = { LEADS_API_KEY: key, LEADS_BASE_URL: service.url };
  const { exitCode } = await leads(['export', '--retries', '999'], { env, clock, random: () => 0.99 });
  await service.close();
  expect(exitCode).toBe(5);
  expect(clock.now() - begun).toBeLessThanOrEqual(300_000);
});

it('promise 10: the key goes to no other origin', async () => {
  const heard: string[] = [];
  const other = await scripted((request, response) => {
    heard.push(JSON.stringify(request.headers));
    sendJson(response, lead);
  });
  const ways = [301, 302, 303, 307, 308] as const;
  for (const status of ways) {
    const service = await scripted((_request, response) => {
      response.writeHead(status, { location: `${other.url}/api/leads` }).end();
    });
    const env = { LEADS_API_KEY: key, LEADS_BASE_URL: service.url };
    expect((await leads(['export'], { env })).exitCode).not.toBe(0);
    await service.close();
  }
  const next = await scripted((_request, response) => {
    sendJson(response, `{"data":[{"id":"1"}],"next":"${other.url}/api/leads?cursor=2"}`);
  });
  const link = await scripted((_request, response) => {
    sendJson(response, lead, { link: `<${other.url}/api/leads?cursor=2>; rel="next"` });
  });
  for (const service of [next, link]) {
    const env = { LEADS_API_KEY: key, LEADS_BASE_URL: service.url };
    expect((await leads(['export'], { env })).exitCode).not.toBe(0);
    await service.close();
  }
  await other.close();
  const told = heard.filter((headers) => headers.includes(key)).length;
  printFigure(
    10,
    `${ways.length} redirects, a next URL and a Link to another port: keys told ${told}, requests ${heard.length}`,
  );
  expect(told).toBe(0);
});
