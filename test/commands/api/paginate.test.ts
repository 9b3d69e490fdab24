import { afterEach, describe, expect, it } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { scriptedService } from '../../support/scripted-service.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function sandbox(options: SandboxOptions) {
  const box = await startSandbox({ leads: 73, maxLimit: 10, ...options }, { clock: new FakeClock() });
  open.push(() => box.close());
  const ids = [...box.leads].map(({ id }) => id).reverse();
  return { env: { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: box.url }, ids };
}

async function service(pages: Readonly<Record<string, string | [number, string]>>) {
  const made = await scriptedService(({ path }, response) => {
    const page = pages[path];
    const [status, body] = page === undefined ? [404, '{}'] : typeof page === 'string' ? [200, page] : page;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  open.push(() => made.close());
  return made;
}

const idsIn = (text: string): string[] => [...text.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id ?? '');

describe('leads api --paginate', () => {
  it.each<[string, SandboxOptions]>([
    ['cursor', {}],
    ['page without a total', { pagination: 'page', totals: false }],
  ])('gives every record once: %s', async (_, options) => {
    const { env, ids } = await sandbox(options);
    const run = await leads(['api', '/api/leads', '--paginate'], { env });
    expect([run.exitCode, run.stderr]).toEqual([0, '']);
    expect(idsIn(run.stdout)).toEqual(ids);
    const limited = await leads(['api', '/api/leads?limit=7', '--paginate'], { env });
    expect(idsIn(limited.stdout)).toEqual(ids);
    expect(limited.exitCode).toBe(0);
  });

  it('begins where the address says', async () => {
    const { env, ids } = await sandbox({ pagination: 'page' });
    const run = await leads(['api', '/api/leads?page=4&limit=10', '--paginate'], { env });
    expect([run.exitCode, run.stderr, idsIn(run.stdout)]).toEqual([0, '', ids.slice(30)]);
    const { env: other } = await sandbox({ pagination: 'offset' });
    const second = await leads(['api', '/api/leads?offset=35', '--paginate'], { env: other });
    expect([second.exitCode, second.stderr, idsIn(second.stdout)]).toEqual([0, '', ids.slice(35)]);
  });

  it('gives the pages in their own bytes, on lines of their own', async () => {
    const first = '{ "data" : [ {"id":"a","n":1.0} ],\t"next_cursor":"c" }';
    const second = '{"data":[{"id":"b"}],"next_cursor":null}\n';
    const { env } = await service({ '/l': first, '/l?cursor=c': second });
    const run = await leads(['api', '/l', '--paginate'], { env });
    expect(run).toMatchObject({ exitCode: 0, stdout: `${first}\n${second}`, stderr: '' });
  });

  it('ends with 6 where the end is not proven', async () => {
    const pageOf = (count: number): string =>
      `{"data":[${Array.from({ length: count }, (_, i) => `{"id":"${i}"}`).join(',')}]}`;
    const page = pageOf(20);
    const same = await scriptedService(({ path }, response) =>
      response.writeHead(200).end(path.includes('limit=1') ? pageOf(1) : page),
    );
    open.push(() => same.close());
    const run = await leads(['api', '/l', '--paginate', '-q'], { env: same.env });
    expect(run).toMatchObject({ exitCode: 6, stdout: page });
    expect(run.stderr).toMatch(/^error: pages may be missing: .*\nhint: .*\n$/);
    const { env } = await service({ '/l': '{"data":[{"id":"a"}],"total":5,"next":null}' });
    expect(await leads(['api', '/l', '--paginate'], { env })).toMatchObject({ exitCode: 6 });
  });

  it('prints an answer without a list, and says what it lacks', async () => {
    const { env } = await service({ '/me': '{"name":"a"}' });
    const run = await leads(['api', '/me', '--paginate'], { env });
    expect(run).toMatchObject({ exitCode: 6, stdout: '{"name":"a"}' });
  });

  it('prints the pages before a failure, and the failing answer', async () => {
    const first = '{"data":[{"id":"a"}],"next_cursor":"c"}';
    const { env } = await service({ '/l': first, '/l?cursor=c': [403, '{"error":"no"}'] });
    const run = await leads(['api', '/l', '--paginate'], { env });
    expect(run).toMatchObject({ exitCode: 4, stdout: `${first}\n{"error":"no"}` });
  });

  it('sends the key to no other origin', async () => {
    const other = await service({});
    const { env } = await service({ '/l': `{"data":[{"id":"a"}],"next":"${other.url}/l?cursor=2"}` });
    const run = await leads(['api', '/l', '--paginate'], { env });
    expect(run.exitCode).toBe(6);
    expect(run.stderr).toMatch(/another origin/);
    expect(other.asked).toHaveLength(0);
  });
});
