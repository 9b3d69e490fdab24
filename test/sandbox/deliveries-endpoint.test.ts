import { type Dispatcher, request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { parseFaults, apiFaults } from '../../src/sandbox/faults.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../support/clock.ts';

let sandbox: Sandbox;
let clock: FakeClock;
afterEach(() => sandbox.close());

async function start(options: SandboxOptions = {}): Promise<void> {
  clock = new FakeClock();
  sandbox = await startSandbox({ leads: 20, ...options }, { clock });
}

async function call(
  method: Dispatcher.HttpMethod,
  path: string,
  options: { body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string; body: Record<string, unknown> }> {
  const answer = await request(`${sandbox.url}${path}`, {
    method,
    ...options,
    headers: { authorization: `Bearer ${sandbox.apiKey}`, ...options.headers },
  });
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    text,
    body: JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>,
  };
}

test('the record of deliveries is shown to no foreign Host or Origin', async () => {
  await start();
  const { port } = sandbox;
  for (const headers of [{ host: `evil.example:${port}` }, { origin: 'https://evil.example' }])
    expect((await call('GET', '/sandbox/deliveries', { headers })).status).toBe(403);
  for (const headers of [{ host: '[::1]:1' }, { origin: `http://localhost:${port}` }])
    expect((await call('GET', '/sandbox/deliveries', { headers })).status).toBe(200);
});

test('a wrong method is answered 405 with Allow, an unknown path 404', async () => {
  await start();
  expect((await call('POST', '/sandbox/deliveries')).status).toBe(404);
  expect((await call('GET', '/nowhere')).body).toMatchObject({ error: 'not_found' });
  expect((await call('POST', '/api/leads')).status).toBe(405);
  expect((await call('POST', '/', { body: '{"id":"lost"}' })).status).toBe(404);
});

test('HEAD is answered as GET is, without a body', async () => {
  await start();
  for (const path of ['/api/leads', '/sandbox/deliveries']) {
    const [head, get] = [await call('HEAD', path), await call('GET', path)];
    expect([head.status, head.text]).toEqual([get.status, '']);
  }
});

test('a lead of the user is listed in its own bytes, with its status last', async () => {
  const own =
    '{"z":1.0,"id":12345678901234567890,"category":"solar","e":"\\u00e9é","n":1e400,"createdAt":"2026-01-15T11:00:00Z"}';
  await start({ records: [Buffer.from(own)] });
  const listed = await call('GET', '/api/leads?category=solar');
  expect(listed.text).toBe(`{"data":[${own.slice(0, -1)},"status":"new"}],"nextCursor":null}`);
  for (const bad of [own, '{}', '[]', '{"id":""', '{"id":1,"id":2}'])
    expect([bad, 'problem' in sandbox.state.add(Buffer.from(bad))]).toEqual([bad, true]);
});

test('a record that names a status of its own keeps it', async () => {
  await start({ records: [Buffer.from('{"id":"a","status":"won","createdAt":"2026-01-01T00:00:00Z"}')] });
  expect((await call('GET', '/api/leads?status=won')).text).toContain(
    '[{"id":"a","status":"won","createdAt":"2026-01-01T00:00:00Z"}]',
  );
});

test('a lead with an older time is listed where it belongs, and a cursor does not miss what follows', async () => {
  await start();
  const first = (await call('GET', '/api/leads?limit=5')).body as {
    data: { createdAt: string }[];
    nextCursor: string;
  };
  const between = new Date(Date.parse(first.data[2]?.createdAt ?? '') - 1).toISOString();
  sandbox.state.add(Buffer.from(`{"id":"late","createdAt":"${between}"}`));
  const ids = ((await call('GET', '/api/leads?limit=100')).body as { data: { id: string }[] }).data.map(
    ({ id }) => id,
  );
  expect(ids.indexOf('late')).toBe(3);
  const rest = (await call('GET', `/api/leads?limit=100&cursor=${first.nextCursor}`)).body as {
    data: unknown[];
  };
  expect(rest.data).toHaveLength(15);
});

test('requests are recorded with their target, answer and faults', async () => {
  await start({ faults: parseFaults('status429=100%', apiFaults) });
  await call('GET', '/api/leads?limit=3');
  sandbox.state.apiInjector.faults = {};
  await call('GET', '/api/leads?limit=3');
  await call('GET', '/api/leads', { headers: { authorization: 'Bearer x' } });
  const { requests } = sandbox.state;
  expect(requests.map(({ status, leads, faults }) => [status, leads, faults])).toEqual([
    [429, 0, ['status429']],
    [200, 3, []],
    [401, 0, []],
  ]);
  expect(requests[0]).toMatchObject({
    id: 'req_000001',
    target: '/api/leads?limit=3',
    at: new Date(clock.now()).toISOString(),
  });
});

test('a new lead is added each time the interval has passed', async () => {
  await start({ leads: 0, everyMs: 100 });
  for (let i = 1; i <= 3; i += 1) {
    await expect.poll(() => clock.sleeps.length).toBe(i);
    clock.advance(100);
    await expect.poll(() => sandbox.leads.length).toBe(i);
  }
});

test('a body is compressed for a client that accepts gzip', async () => {
  await start();
  const packed = await request(`${sandbox.url}/api/leads`, {
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'accept-encoding': 'gzip' },
  });
  const bytes = Buffer.from(await packed.body.arrayBuffer());
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect([bytes[0], bytes[1]]).toEqual([0x1f, 0x8b]);
});
