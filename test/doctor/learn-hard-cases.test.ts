import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { apiFaults, parseFaults } from '../../src/sandbox/faults.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads } from '../support/run.ts';
import { scripted } from '../support/service.ts';
import {
  diagnose,
  expectUndecidedPagination,
  exportedIds,
  records,
  sandboxWith,
  serving,
} from './support.ts';

const json = { 'content-type': 'application/json' };
const unnamed = { category: null, since: null, until: null } as const;

describe('doctor --learn', () => {
  it('tells filters that are ignored from those that are honoured, and writes none of them', async () => {
    const sandbox = await sandboxWith({ params: { ...unnamed, status: null } });
    const found = await diagnose(sandbox, '--learn');
    await sandbox.close();
    expect(found.check('dialect.status')?.hint).toBe('narrow here: --where FIELD=VALUE');
    for (const name of ['status', 'category']) {
      expect(found.check(`dialect.${name}`)).toMatchObject({
        result: 'warn',
        detail: expect.stringContaining('silently ignored') as string,
      });
    }
    expect(Object.keys(found.dialect.params ?? {}).toSorted()).toEqual(['cursor', 'limit']);
    expect(found.dialect.statusField).toBeUndefined();
  });

  it.each([
    ['unix', 1000],
    ['unix-ms', 1],
  ])('finds that times are sent as %s', async (format, unit) => {
    const all = records(60);
    const service = await serving((query) => {
      const bound = (name: string): number => Number(query.get(name) ?? Number.NaN) * unit;
      const [from, to] = [bound('date_from'), bound('date_to')];
      const times = all.filter(({ createdAt }) => {
        const time = Date.parse(createdAt as string);
        return !(time < from) && !(time >= to);
      });
      return { data: times };
    });
    const found = await diagnose({ url: service.url }, '--learn');
    expect(service.requests.length).toBeLessThanOrEqual(25);
    expect(found.dialect).toMatchObject({
      params: { since: 'date_from', until: 'date_to' },
      dateFormat: format,
    });
    const ids = await exportedIds(
      { url: service.url },
      found.home,
      '--since',
      '2026-01-03',
      '--until',
      '2026-01-04',
      '--accept-incomplete',
    );
    await service.close();
    expect(ids).toHaveLength(12);
  });

  it('prints what was set by hand beside what replaces it, and keeps the rest of the profile', async () => {
    const sandbox = await sandboxWith({ pagination: 'page', maxLimit: 40 });
    const home = freshHome();
    const set = (key: string, value: string) => leads(['config', 'set', key, value], { home });
    await set('api.page-size', '7');
    await set('api.pagination', 'none');
    await set('api.items', '/wrong');
    await set('api.params.since', 'nonsense');
    await set('timeout', '20s');
    const found = await diagnose({ url: sandbox.url, home }, '--learn');
    const learnt = (key: string) => found.lines.find((line) => line.key === `api.${key}`);
    expect(learnt('page-size')).toMatchObject({ value: 40, old: 7 });
    expect(learnt('pagination')).toMatchObject({ value: 'page', old: 'none' });
    expect(learnt('items')).toMatchObject({ value: '/data', old: '/wrong' });
    expect(learnt('params.since')).toMatchObject({ value: 'since', old: 'nonsense' });
    expect(readFileSync(join(home, 'config', 'config.json'), 'utf8')).toContain('"timeout": "20s"');
    const shown = await leads(['doctor', '--learn'], {
      home,
      env: { LEADS_BASE_URL: sandbox.url, LEADS_API_KEY: 'sandbox-key' },
    });
    expect(shown.stdout).toContain('api.page-size 40');
    const ids = await exportedIds(sandbox, home);
    await sandbox.close();
    expect(ids).toHaveLength(300);
  });

  it('keeps a name that was set by hand where it is honoured', async () => {
    const sandbox = await sandboxWith({ params: { ...unnamed, category: 'my_group' } });
    const home = freshHome();
    await leads(['config', 'set', 'api.params.category', 'my_group'], { home });
    const found = await diagnose({ url: sandbox.url, home }, '--learn');
    await sandbox.close();
    expect(found.learnt('params.category')).toBe('my_group');
  });

  it('keeps to the rate limit: no request is made that it would refuse', async () => {
    const clock = new FakeClock(Date.now(), { hasty: true });
    const sandbox = await sandboxWith({ rateLimit: { requests: 4, windowMs: 5000 } }, clock);
    const found = await diagnose({ url: sandbox.url, clock }, '--learn');
    const statuses = sandbox.state.requests.map(({ status }) => status);
    await sandbox.close();
    expect(found.exitCode).toBe(0);
    expect(statuses.length).toBeLessThanOrEqual(25);
    expect(statuses).not.toContain(429);
    expect(found.learnt('params.limit')).toBe('limit');
  });

  it.each([1, 2, 3])('learns the same while the service fails now and then (seed %i)', async (seed) => {
    const faults = parseFaults('status500=5%,status429=5%,truncate=4%,reset=2%', apiFaults);
    const sandbox = await sandboxWith({ seed, faults, pagination: 'offset', totals: false, maxLimit: 60 });
    const found = await diagnose(sandbox, '--learn');
    expect(sandbox.state.requests.length).toBeLessThanOrEqual(25);
    expect(found.lines.filter(({ key, value }) => key !== undefined && value === null)).toEqual([]);
    sandbox.state.apiInjector.faults = {};
    const ids = await exportedIds(sandbox, found.home);
    await sandbox.close();
    expect(new Set(ids).size).toBe(300);
  });

  it.each([1, 2, 3])('learns nothing wrong while leads arrive (seed %i)', async (seed) => {
    const faults = parseFaults('shift=30%', apiFaults);
    const sandbox = await sandboxWith({ seed, faults, pagination: 'page', totals: false, maxLimit: 60 });
    const found = await diagnose(sandbox, '--learn');
    const began = [...sandbox.leads].map(({ id }) => id);
    for (const { key, value } of found.lines) {
      if (key === 'api.params.page') expect(value).toBe('page');
      if (key === 'api.params.limit') expect(value).toBe('limit');
      if (key === 'api.params.since') expect(value).toBe('since');
      if (key === 'api.page-size') expect(value).toBe(60);
      expect(key).not.toBe('api.params.offset');
      expect(value).not.toBe('none');
    }
    const ids = await exportedIds(sandbox, found.home, '--accept-incomplete');
    await sandbox.close();
    expect(began.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('says what decides where a limit is honoured and no position is', async () => {
    const all = records(80);
    const service = await serving((query) => ({ data: all.slice(0, Number(query.get('limit') ?? 50)) }));
    await expectUndecidedPagination(service, 'leads config set api.pagination none');
  });

  const all = records(51);
  it.each<[string, string, (query: URLSearchParams) => unknown]>([
    ['warn', 'says nothing', () => all],
    ['warn', 'rejects every parameter', (query) => (query.size > 0 ? 400 : all)],
    ['warn', 'takes every parameter for a filter', (query) => ({ data: query.size > 0 ? [] : all })],
    ['warn', 'counts more', () => ({ data: all, total: 400 })],
    ['pass', 'counts as many', () => ({ data: all, total: 51 })],
    [
      'warn',
      'filters',
      (query) => all.filter(({ category }) => [category, null].includes(query.get('type'))),
    ],
  ])('never writes that there are no pages: %s where the only one %s', async (result, _, answer) => {
    const service = await serving(answer);
    const found = await diagnose({ url: service.url }, '--learn');
    expect(service.requests.length).toBeLessThanOrEqual(25);
    await service.close();
    expect(found.learnt('pagination')).toBeUndefined();
    expect(found.check('dialect.pagination')?.result).toBe(result);
  });

  it('names both of two arrays that may hold the leads, and the command that decides', async () => {
    const service = await serving(() => ({ leads: records(3), records: records(4) }));
    const found = await diagnose({ url: service.url }, '--learn');
    await service.close();
    expect(found.exitCode).toBe(7);
    const { detail, hint } = found.check('dialect.envelope') ?? {};
    expect(detail).toMatch(/\/leads and \/records/);
    expect(hint).toContain('leads config set api.items');
    expect(found.dialect).toEqual({});
  });

  it('finds another name of the id, and decides nothing between two', async () => {
    const named = (names: readonly string[]) =>
      serving(() =>
        records(12).map(({ id, ...rest }) => ({
          ...Object.fromEntries(names.map((name) => [name, id])),
          ...rest,
        })),
      );
    const one = await named(['uuid']);
    const two = await named(['uuid', 'reference']);
    const alone = await diagnose({ url: one.url }, '--learn');
    const both = await diagnose({ url: two.url }, '--learn');
    await one.close();
    await two.close();
    expect(alone.learnt('id')).toBe('uuid');
    expect(both.learnt('id')).toBeUndefined();
    expect(both.said('dialect.envelope')).toMatch(/^warn: .*hint: .*api\.id uuid.*api\.id reference/);
  });

  it('learns nothing from a list that is empty or has one lead', async () => {
    for (const count of [0, 1]) {
      const service = await serving(() => ({ data: records(count) }));
      const found = await diagnose({ url: service.url }, '--learn');
      await service.close();
      expect(found.exitCode).toBe(0);
      expect(found.dialect.pagination).toBeUndefined();
      expect(found.check('dialect.pagination')?.result).toBe('warn');
    }
  });

  it('writes nothing into the profile of another service', async () => {
    const sandbox = await sandboxWith({});
    const home = freshHome();
    await leads(['config', 'set', 'base-url', 'https://leads.example.com'], { home });
    const found = await diagnose({ url: sandbox.url, home }, '--learn');
    expect(found).toMatchObject({ exitCode: 2, dialect: {} });
    const newly = ['--profile', 'new'];
    await leads(['config', 'set', 'base-url', sandbox.url, ...newly], { home });
    const other = await diagnose({ url: sandbox.url, home }, '--learn', ...newly);
    await sandbox.close();
    expect(other).toMatchObject({ exitCode: 0, dialect: {} });
    expect(readConfig(join(home, 'config')).profiles?.['new']?.api).toMatchObject({ pagination: 'cursor' });
  });

  it('says of a list that is asked for by POST that it cannot be read', async () => {
    const wanting = (status: number, body: object) =>
      scripted((_, response) => response.writeHead(status, json).end(JSON.stringify(body)));
    const refusing = await wanting(405, {});
    const saying = await wanting(400, { error: 'bad_request', message: 'Use POST to search leads' });
    for (const service of [refusing, saying]) {
      const found = await diagnose(service, '--learn');
      await service.close();
      expect(found.check('dialect.envelope')).toMatchObject({
        result: 'fail',
        detail: expect.stringContaining('the service wants POST there') as string,
        hint: expect.stringContaining('leads config set api.path') as string,
      });
    }
  });

  it('needs an account', async () => {
    expect((await leads(['doctor', '--learn'], {})).exitCode).toBe(3);
  });
});
