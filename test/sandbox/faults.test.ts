import { connect } from 'node:net';
import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { apiFaults, parseFaults } from '../../src/sandbox/faults.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../support/clock.ts';

let sandbox: Sandbox;
afterEach(() => sandbox.close());

async function start(faults: string, options: SandboxOptions = {}): Promise<void> {
  sandbox = await startSandbox(
    { leads: 60, faults: parseFaults(faults, apiFaults), ...options },
    { clock: new FakeClock(undefined, { hasty: true }) },
  );
}

interface Page {
  data: { id: string; status: string }[];
  nextCursor: string | null;
}

async function get(query: string): Promise<{ status: number; body: Page; headers: Record<string, unknown> }> {
  const { statusCode, body, headers } = await request(`${sandbox.url}/api/leads?${query}`, {
    headers: { authorization: `Bearer ${sandbox.apiKey}` },
  });
  return { status: statusCode, headers, body: (await body.json()) as Page };
}

const ids = (page: Page): string[] => page.data.map((lead) => lead.id);

test('faults are read from text; one that is unknown or out of range is an error', async () => {
  await start('');
  expect(parseFaults('status500=5%, slow=1%:200ms,reset=0.005,status429', apiFaults)).toEqual({
    status500: { chance: 0.05 },
    slow: { chance: 0.01, amountMs: 200 },
    reset: { chance: 0.005 },
    status429: { chance: 1 },
  });
  for (const bad of ['status501=5%', 'reset=101%', 'reset=x', 'slow=1%:fast', 'reset=-1%']) {
    expect(() => parseFaults(bad, apiFaults), bad).toThrow();
  }
});

test('status faults are answered as 500, and 429 with Retry-After', async () => {
  await start('');
  for (const [name, status, retryAfter] of [
    ['status500', 500, undefined],
    ['status429=100%:7s', 429, '7'],
  ] as const) {
    sandbox.state.apiInjector.faults = parseFaults(name, apiFaults);
    const answer = await get('limit=5');
    expect([answer.status, answer.headers['retry-after']]).toEqual([status, retryAfter]);
    expect(answer.body).toMatchObject({
      error: expect.any(String) as string,
      message: expect.any(String) as string,
    });
  }
});

test('a reset connection carries no answer, and is recorded without a status', async () => {
  await start('reset');
  await expect(get('limit=5')).rejects.toMatchObject({
    code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string,
  });
  expect(sandbox.state.requests[0]).toMatchObject({ status: null, faults: ['reset'] });
});

test('a truncated body is framed by its length, in chunks, or by the end of the connection alone', async () => {
  await start('truncate');
  const framings = new Set<string>();
  for (let i = 1; i <= 24; i += 1) {
    const raw = await rawGet(`limit=${i}`);
    const [head = '', body = ''] = raw.split('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    const chunked = /transfer-encoding: chunked/i.test(head);
    framings.add(length === undefined ? (chunked ? 'chunked' : 'close') : 'length');
    if (length !== undefined) expect(Buffer.byteLength(body)).toBeLessThan(Number(length));
    if (chunked) expect(raw.endsWith('0\r\n\r\n')).toBe(false);
    expect(() => JSON.parse(body) as unknown).toThrow();
  }
  expect([...framings].sort()).toEqual(['chunked', 'close', 'length']);
});

test('a slow body is complete, and takes as long as the fault says', async () => {
  await start('slow=100%:5s');
  const clock = new FakeClock(undefined, { hasty: true });
  await sandbox.close();
  sandbox = await startSandbox({ leads: 60, faults: parseFaults('slow=100%:5s', apiFaults) }, { clock });
  expect(ids((await get('limit=50')).body)).toHaveLength(50);
  expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(5000);
});

test('a page with a duplicate repeats the last lead of the page before, and loses none', async () => {
  for (const pagination of ['cursor', 'page', 'offset'] as const) {
    await start('', { pagination });
    const first = (await get('limit=10')).body;
    sandbox.state.apiInjector.faults = parseFaults('duplicate', apiFaults);
    const on = { cursor: `cursor=${first.nextCursor ?? ''}`, page: 'page=2', offset: 'offset=10' };
    const second = ids((await get(`limit=10&${on[pagination]}`)).body);
    expect(second[0]).toBe(ids(first).at(-1));
    expect(second.slice(1)).toEqual(
      [...sandbox.leads]
        .reverse()
        .slice(10, 20)
        .map((lead) => lead.id),
    );
    if (pagination !== 'offset') await sandbox.close();
  }
});

test('a shift adds a lead between two pages', async () => {
  await start('shift', { pagination: 'page' });
  const first = ids((await get('limit=10&page=1')).body);
  const second = ids((await get('limit=10&page=2')).body);
  expect(second[0]).toBe(first.at(-1));
  expect(sandbox.leads.length).toBe(62);
});

test('a service can ignore filters, and repeat its cursor', async () => {
  await start('ignoredFilters');
  expect(
    new Set((await get('limit=60&status=failed')).body.data.map((lead) => lead.status)).size,
  ).toBeGreaterThan(1);
  sandbox.state.apiInjector.faults = parseFaults('repeatedCursor', apiFaults);
  const { nextCursor } = (await get('limit=10')).body;
  expect(nextCursor).not.toBeNull();
  expect((await get(`limit=10&cursor=${nextCursor ?? ''}`)).body.nextCursor).toBe(nextCursor);
});

test('the same seed gives the same faults to the same requests, in whatever order they come', async () => {
  const faults = 'status500=20%,status429=10%,reset=10%,truncate=10%,slow=5%,duplicate=10%';
  const queries = Array.from({ length: 60 }, (_, i) => `limit=${i + 1}`);
  const struck = async (order: readonly string[], seed: number): Promise<Map<string, readonly string[]>> => {
    await start(faults, { seed });
    await Promise.all(
      order.flatMap((query) => [query, query]).map((query) => get(query).catch(() => undefined)),
    );
    await sandbox.close();
    const seen = new Map<string, string[]>();
    for (const { target, faults: injected } of sandbox.state.requests) {
      seen.set(target, [...(seen.get(target) ?? []), injected.join('+')].sort());
    }
    return new Map([...seen].sort());
  };
  const first = await struck(queries, 3);
  expect([...first.values()].flat().filter((names) => names !== '').length).toBeGreaterThan(20);
  expect(await struck([...queries].reverse(), 3)).toEqual(first);
  expect(await struck(queries, 4)).not.toEqual(first);
});

/** Everything that the server sends until it hangs up. */
function rawGet(query: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(sandbox.port, '127.0.0.1', () => {
      socket.write(
        `GET /api/leads?${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${sandbox.apiKey}\r\n\r\n`,
      );
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.on('error', reject);
  });
}
