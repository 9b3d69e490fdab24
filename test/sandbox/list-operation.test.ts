import { afterEach, expect, test } from 'vitest';
import { request } from 'undici';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../support/clock.ts';

let sandbox: Sandbox;
afterEach(() => sandbox.close());

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
}
type Lead = { id: string; category: string; createdAt: string; status: string };

async function start(options: SandboxOptions = {}): Promise<void> {
  sandbox = await startSandbox({ leads: 60, ...options }, { clock: new FakeClock() });
}

async function get(pathOrUrl: string, headers: Record<string, string> = {}): Promise<Answer> {
  const url = new URL(pathOrUrl, sandbox.url);
  const answer = await request(url, { headers: { authorization: `Bearer ${sandbox.apiKey}`, ...headers } });
  return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as never };
}

/** Follows `next` until it gives undefined; the ids in the order they came. */
async function walk(first: string, next: (answer: Answer) => string | undefined): Promise<string[]> {
  const ids: string[] = [];
  for (let at: string | undefined = first; at !== undefined;) {
    const answer: Answer = await get(at);
    const found = (Array.isArray(answer.body) ? answer.body : answer.body['data']) as Lead[];
    ids.push(...found.map((lead) => lead.id));
    at = next(answer);
    expect(ids.length).toBeLessThanOrEqual(60);
  }
  return ids;
}

const all = (): string[] => [...sandbox.leads].map((lead) => lead.id).reverse();

test('a request without a valid key is answered 401', async () => {
  await start();
  const cases = ['Bearer nope', 'Basic sandbox-key', 'Bearer', 'Bearer sandbox-key2'];
  for (const authorization of cases) {
    const { status, body } = await get('/api/leads', { authorization });
    expect([status, body['error'], typeof body['message']]).toEqual([401, 'unauthorized', 'string']);
  }
  const bare = await request(`${sandbox.url}/api/leads`);
  expect(bare.statusCode).toBe(401);
  await bare.body.dump();
});

test('a cursor holds while new leads arrive', async () => {
  await start();
  const ids = await walk('/api/leads?limit=7', ({ body }) => {
    sandbox.addLead();
    return body['nextCursor'] === null
      ? undefined
      : `/api/leads?limit=7&cursor=${body['nextCursor'] as string}`;
  });
  expect(ids).toEqual(all().slice(-60));
});

test('without pagination all leads come at once, whatever the limit', async () => {
  await start({ pagination: 'none', envelope: 'result.leads' });
  const { body } = await get('/api/leads?limit=3');
  expect((body as { result: { leads: Lead[] } }).result.leads).toHaveLength(60);
});

test('each filter applies; the dates are half-open', async () => {
  await start();
  const leadsOf = async (query: string): Promise<Lead[]> =>
    (await get(`/api/leads?${query}`)).body['data'] as Lead[];
  const everything = await leadsOf('limit=100');
  const fresh = await leadsOf('limit=100&status=new');
  expect(fresh).toEqual(everything.filter((lead) => lead.status === 'new'));
  expect(fresh.length).toBeGreaterThan(0);
  expect(await leadsOf('limit=100&category=solar&category=legal')).toEqual(
    everything.filter((lead) => ['solar', 'legal'].includes(lead.category)),
  );
  const [until, since] = [everything[10]?.createdAt ?? '', everything[20]?.createdAt ?? ''];
  const between = everything.filter((lead) => lead.createdAt >= since && lead.createdAt < until);
  expect(await leadsOf(`limit=100&since=${since}&until=${until}`)).toEqual(between);
  const [unixSince, unixUntil] = [Date.parse(since), Date.parse(until)];
  expect(await leadsOf(`limit=100&since=${unixSince / 1000}&until=${unixUntil}`)).toEqual(between);
  expect(await leadsOf('limit=2&category=solar&page=9')).toHaveLength(2);
});

test('the limit has a default and a maximum, and an invalid one is answered 400', async () => {
  await start({ defaultLimit: 5, maxLimit: 20 });
  const count = async (query: string): Promise<number> =>
    ((await get(`/api/leads${query}`)).body['data'] as Lead[]).length;
  expect([await count(''), await count('?limit=8'), await count('?limit=1000')]).toEqual([5, 8, 20]);
  for (const bad of ['limit=0', 'limit=-1', 'limit=x', 'cursor=%00', 'since=tuesday']) {
    const { status, body } = await get(`/api/leads?${bad}`);
    expect([bad, status, body['error']]).toEqual([bad, 400, 'invalid_request']);
  }
});

test('a rate limit answers 429 with Retry-After and says what is left', async () => {
  const clock = new FakeClock();
  sandbox = await startSandbox({ rateLimit: { requests: 2, windowMs: 10_000 } }, { clock });
  expect((await get('/api/leads')).headers['x-ratelimit-remaining']).toBe('1');
  await get('/api/leads');
  const refused = await get('/api/leads');
  expect([refused.status, refused.body['error'], refused.headers['retry-after']]).toEqual([
    429,
    'rate_limited',
    '10',
  ]);
  clock.advance(10_000);
  expect((await get('/api/leads')).status).toBe(200);
});

test('links to the next page use the host name that the client used', async () => {
  for (const options of [{ next: 'url' }, { pagination: 'link' }] as const) {
    await start(options);
    const base = `http://localhost:${sandbox.port}`;
    const { headers, body } = await get(`${base}/api/leads?limit=7`);
    const link = options.next === 'url' ? body['next'] : /<(.*)>/.exec(String(headers['link']))?.[1];
    expect(new URL(String(link)).origin).toBe(base);
    await sandbox.close();
  }
});
