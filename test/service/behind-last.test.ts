import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import { IdSet } from '../../src/lead/id-set.ts';
import { type Scripted, type TestService } from '../support/service.ts';
import { replying } from '../support/replying.ts';
import { mayBeCut, walk } from '../support/walk.ts';

interface Lead {
  readonly id: string;
  readonly createdAt: string | number;
}

let server: Scripted;
let service: TestService;

/** Newest first; `minutes` is the time between two of them. */
const leadsOf = (count: number, minutes: number): Lead[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `l-${i}`,
    createdAt: new Date(Date.UTC(2026, 0, 31) - Math.floor(i * minutes) * 60_000).toISOString(),
  }));
const idsOf = (leads: readonly Lead[]): string[] => leads.map(({ id }) => id);

type List = (query: URLSearchParams, response: ServerResponse) => readonly Lead[] | undefined;

/** A service that gives the first leads of a list, as a plain array. */
async function open(list: List, cap: number, dialect: Dialect = {}): Promise<void> {
  ({ server, service } = await replying(
    ({ query, response }) => {
      const leads = list(query, response);
      if (leads !== undefined) return leads.slice(0, cap);
      return response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"x"}');
    },
    { dialect },
  ));
}

const behindId =
  (leads: readonly Lead[], name: string): List =>
  (query) =>
    leads.slice(leads.findIndex(({ id }) => id === query.get(name)) + 1);
/** Compares whole seconds, as many databases do. */
const before =
  (leads: readonly Lead[], name: string, isIncluded: boolean, secondsOf = Date.parse): List =>
  (query) => {
    const bound = query.get(name);
    if (bound === null) return leads;
    const time = Math.floor(secondsOf(bound) / 1000);
    return leads.filter(({ createdAt }) => {
      const created = Math.floor(secondsOf(String(createdAt)) / 1000);
      return isIncluded ? created <= time : created < time;
    });
  };

describe('a list that goes on behind the id of its last lead', () => {
  it('is complete where nothing is behind a full page, and that is told from a filter that nothing passes', async () => {
    const leads = leadsOf(50, 1);
    await open(behindId(leads, 'before'), 50);
    expect(await walk(service)).toMatchObject({
      ids: idsOf(leads),
      completion: { evidence: 'nothing-behind' },
    });
    await service.close();
    await server.close();
    const more = leadsOf(80, 1);
    await open((query) => (query.has('before') ? [] : more), 50);
    await expect(walk(service)).rejects.toThrow(mayBeCut);
  });

  it('is read where every other parameter is rejected', async () => {
    const leads = leadsOf(95, 1);
    const find = behindId(leads, 'before');
    await open(
      (query, response) =>
        [...query.keys()].every((name) => ['limit', 'before'].includes(name))
          ? find(query, response)
          : undefined,
      30,
    );
    expect((await walk(service)).ids).toEqual(idsOf(leads));
  });
});

describe('a list that is read by windows of time', () => {
  it.each([
    ['until', true, 1],
    ['until', false, 1],
    ['created_before', true, 0.3],
    ['createdBefore', false, 0.1],
  ])('is read by %s, the time included: %s, a lead each %d minutes', async (name, isIncluded, minutes) => {
    const leads = leadsOf(237, minutes);
    await open(before(leads, name, isIncluded), 60);
    const { ids, completion } = await walk(service);
    expect(ids).toEqual(idsOf(leads));
    expect(completion).toEqual({ kind: 'complete', evidence: 'nothing-behind' });
  });

  it('is asked for in the form and under the name of the dialect', async () => {
    const leads = leadsOf(95, 1).map((lead) => ({
      ...lead,
      createdAt: Date.parse(String(lead.createdAt)) / 1000,
    }));
    const seconds = (text: string): number => Number(text) * 1000;
    await open(before(leads, 'max_time', true, seconds), 30, {
      params: { until: 'max_time' },
      dateFormat: 'unix',
    });
    expect((await walk(service)).ids).toEqual(idsOf(leads));
    const windows = server.requests.filter((path) => path.includes('max_time='));
    expect(windows.every((path) => /max_time=\d{10}$/.test(path))).toBe(true);
  });

  it('is unproven at a full answer of one time', async () => {
    const leads = leadsOf(300, 0.01);
    await open(
      before(
        [
          ...leadsOf(20, 1).map((lead) => ({ ...lead, id: `n${lead.id}` })),
          ...leads.map((lead) => ({ ...lead, createdAt: '2026-01-01T00:00:00.000Z' })),
        ],
        'until',
        true,
      ),
      60,
    );
    await expect(walk(service)).rejects.toThrow('do not become older');
  });

  it('is read from further back where a window does not begin with the last lead of the one before', async () => {
    const leads = leadsOf(237, 1);
    let windows = 0;
    const find = before(leads, 'until', true);
    await open((query, response) => {
      const found = find(query, response);
      return !query.has('until') || (windows += 1) !== 3 ? found : found?.slice(3);
    }, 60);
    expect((await walk(service)).ids.sort()).toEqual(idsOf(leads).sort());
  });

  it('goes on from a position that was kept', async () => {
    const leads = leadsOf(237, 1);
    await open(before(leads, 'until', true), 60);
    const whole = await walk(service);
    const [at = 0] = whole.counts.slice(1);
    const seen = new IdSet();
    for (const id of whole.ids.slice(0, at)) seen.add(id ?? '');
    const rest = await walk(service, { from: whole.positions[1], seen });
    expect([...whole.ids.slice(0, at), ...rest.ids]).toEqual(idsOf(leads));
  });

  it('is no way through a list that is not in the order of time', async () => {
    const leads = leadsOf(95, 1);
    const mixed = leads.map((_, i) => leads[(i * 37) % 95] as Lead);
    await open(before(mixed, 'until', true), 30);
    await expect(walk(service)).rejects.toThrow(mayBeCut);
  });
});

describe('a list of one lead that `api.pagination before` reads', () => {
  const leads = leadsOf(1, 1);

  it('is complete by its id, since a page with so few leads is not cut', async () => {
    await open(behindId(leads, 'before'), 50, { pagination: 'before', params: { before: 'before' } });
    const { ids, completion } = await walk(service);
    expect(ids).toEqual(idsOf(leads));
    expect(completion).toEqual({ kind: 'complete', evidence: 'few' });
  });

  it('is not proven complete by its time, which a service that ignores the time gives once more', async () => {
    await open(before(leads, 'until', true), 50, { pagination: 'before', params: { before: 'until' } });
    await expect(walk(service)).rejects.toThrow('do not become older');
  });

  it('is not proven complete where one lead was asked for', async () => {
    await open(behindId(leads, 'before'), 50, { pagination: 'before', pageSize: 1 });
    await expect(walk(service)).rejects.toThrow('does not begin with the lead');
  });

  it('is read on where the service gives one lead a page', async () => {
    const three = leadsOf(3, 1);
    await open(behindId(three, 'before'), 1, { pagination: 'before' });
    await expect(walk(service)).rejects.toThrow('does not begin with the lead');
    expect(server.requests.length).toBeGreaterThan(3);
  });
});
