import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import { startSandbox } from '../../src/library/testing.ts';
import { explain, sign, verify } from '../../src/library/webhook.ts';
import { checkTimestamp } from '../../src/webhook/timestamp.ts';

const choice = { scheme: 'standard-webhooks', secrets: 'whsec_dGVzdC1zZWNyZXQtMDEyMzQ1Njc4OQ==' } as const;
const client = { baseUrl: 'https://leads.example.com', apiKey: 'key' };
const request = { method: 'POST', url: '/', headers: {}, body: '{"id":"1"}' };

type Call = (more: Readonly<Record<string, unknown>>) => unknown;

const calls: readonly (readonly [name: string, misspelt: string, near: string, Call])[] = [
  ['verify', 'tolerance', 'toleranceMs', (more) => verify(request, { ...choice, ...more })],
  ['verify', 'maxBodybytes', 'maxBodyBytes', (more) => verify(request, { ...choice, ...more })],
  ['explain', 'secret', 'secrets', (more) => explain(request, { ...choice, ...more })],
  ['sign', 'nwo', 'now', (more) => sign({ id: '1' }, { ...choice, ...more })],
  ['createClient', 'timeout', 'timeoutMs', (more) => createClient({ ...client, ...more })],
  ['the filter of leads()', 'catagory', 'category', (more) => createClient(client).leads(more)],
  ['leads()', 'acceptIncompleted', 'acceptIncomplete', (more) => createClient(client).leads({}, more)],
  ['startSandbox', 'envelop', 'envelope', (more) => startSandbox(more)],
  ['params', 'untill', 'until', (more) => startSandbox({ params: more })],
  [
    'webhook',
    'retries',
    'retryMs',
    (more) => startSandbox({ webhook: { url: 'http://localhost/', ...more } }),
  ],
  [
    'rateLimit',
    'window',
    'windowMs',
    (more) => startSandbox({ rateLimit: { requests: 1, windowMs: 1, ...more } }),
  ],
];

it.each(calls)('%s: an option %s is a TypeError that names %s', async (of, name, near, call) => {
  for (const value of [1, undefined]) {
    const error: unknown = await Promise.resolve()
      .then(() => call({ [name]: value }))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(`${of} has no option '${name}': `);
    expect((error as Error).message).toContain(near);
  }
});

it('options that are none are a TypeError', async () => {
  await expect(verify(request, undefined as never)).rejects.toThrow(TypeError);
  expect(() => createClient('https://leads.example.com' as never)).toThrow(TypeError);
});

it('sign takes the whole choice that verify takes', async () => {
  const shared = { ...choice, toleranceMs: 1000, now: 1_700_000_000_000 };
  const signed = await sign({ id: '1' }, shared);
  expect(await verify({ url: '/', ...signed }, shared)).toMatchObject({ ok: true });
});

describe('a time that is no number', () => {
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, '1700000000000', null, new Date(0)];

  it.each(wrong)('now: %s is a TypeError in every call', async (now) => {
    const options = { ...choice, now: now as never };
    const lastMonth = await sign({ id: '1' }, { ...choice, now: Date.now() - 30 * 86_400_000 });
    await expect(verify({ url: '/', ...lastMonth }, options)).rejects.toThrow(TypeError);
    await expect(explain({ url: '/', ...lastMonth }, options)).rejects.toThrow(TypeError);
    await expect(sign({ id: '1' }, options)).rejects.toThrow(TypeError);
  });

  it('is refused by the check of the time itself', () => {
    const now = Number.NaN;
    const stale = { ok: false, reason: 'stale_timestamp' };
    expect(checkTimestamp({ timestamp: 0 }, 300_000, now)).toMatchObject(stale);
    expect(checkTimestamp({ timestamp: Number.NaN }, 300_000, 0)).toMatchObject(stale);
  });
});

it.each([Number.NaN, Infinity, '1'])('a limit of %s bytes or milliseconds is refused', async (given) => {
  const limit = given as number;
  await expect(verify(request, { ...choice, maxBodyBytes: limit })).rejects.toThrow('maxBodyBytes');
  await expect(verify(request, { ...choice, bodyTimeoutMs: limit })).rejects.toThrow('bodyTimeoutMs');
});
