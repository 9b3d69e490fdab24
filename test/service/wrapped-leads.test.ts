import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import { listLeads } from '../../src/service/listing.ts';
import { type TestService } from '../support/service.ts';
import { replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

type Answer = (query: URLSearchParams) => string;

const open = async (answer: Answer, dialect: Dialect = {}): Promise<TestService> =>
  (await replying(({ query }) => answer(query), { dialect })).service;

/** As the services send them: escapes, numbers that no double holds, and an order of keys that is theirs. */
const lead = (nth: number, idName = 'id'): string =>
  `{"name":"Zo\\u00eb \\"${nth}\\"","budget":1${nth}00000000000000000.10,"${idName}":"l-${nth}","b":1,"a":[{}]}`;
const count = 23;
const all = Array.from({ length: count }, (_, i) => lead(i));

/** Some of the leads, each as an element. */
const elements = (from: number, size: number, wrap: (nth: number) => string): string =>
  Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, i) => wrap(from + i)).join(',');

const relay: Answer = (query) => {
  const from = Number(query.get('after') ?? 0);
  const edges = elements(from, 10, (nth) => `{"cursor":"${nth + 1}","node":${lead(nth)}}`);
  const end = Math.min(from + 10, count);
  return `{"data":{"leads":{"edges":[${edges}],"pageInfo":{"hasNextPage":${end < count},"endCursor":"${end}"}}}}`;
};

const couch: Answer = (query) => {
  const from = Number(query.get('skip') ?? 0);
  const size = Math.min(10, Number(query.get('limit') ?? 10));
  const row = (nth: number): string =>
    `{"id":"l-${nth}","key":"l-${nth}","value":{"rev":"1-x"},"doc":${lead(nth, '_id')}}`;
  return `{"total_rows":${count},"offset":${from},"rows":[\n${elements(from, size, row)}\n]}`;
};

const elasticsearch: Answer = (query) => {
  const from = Number(query.get('from') ?? 0);
  const size = Math.min(10, Number(query.get('size') ?? 10));
  const hit = (nth: number): string =>
    `{"_index":"leads","_id":"h-${nth}","_score":1.0,"_source":${lead(nth, 'no')}}`;
  const total = `{"value":${count},"relation":"eq"}`;
  return `{"took":1,"_shards":{"total":1},"hits":{"total":${total},"hits":[${elements(from, size, hit)}]}}`;
};

const wrapped: Answer = (query) => {
  const page = Number(query.get('page') ?? 1);
  const leads = elements((page - 1) * 10, 10, (nth) => `{"lead": ${lead(nth)} }`);
  return `{"leads":[${leads}],"page":${page},"total_pages":3}`;
};

const searchParams: Dialect = { path: '/leads/_search', params: { limit: 'size', offset: 'from' } };

const services: [string, Answer, Dialect, string, string][] = [
  ['Relay', relay, {}, 'id', 'l'],
  ['CouchDB _all_docs', couch, { path: '/leads/_all_docs?include_docs=true' }, '_id', 'l'],
  ['Elasticsearch', elasticsearch, searchParams, 'no', 'h'],
  ['{"lead":{}}', wrapped, {}, 'id', 'l'],
];

describe.each(services)('%s', (_, answer, dialect, idName, prefix) => {
  it('gives the own bytes of every lead, once, to a proven end', async () => {
    const pages = listLeads(await open(answer, dialect), { query: {} });
    const bytes: string[] = [];
    const ids: (string | undefined)[] = [];
    for await (const { leads } of pages) {
      bytes.push(...leads.map((one) => Buffer.from(one.bytes).toString()));
      ids.push(...leads.map(({ id }) => id));
    }
    expect(bytes).toEqual(all.map((one) => one.replace('"id"', `"${idName}"`)));
    expect(ids).toEqual(all.map((__, nth) => `${prefix}-${nth}`));
    expect(pages.completion).toMatchObject({ kind: 'complete' });
    expect(pages.stats).toMatchObject({ duplicates: 0, withoutId: 0 });
  });

  it('gives the elements whole where the dialect says so', async () => {
    const pages = listLeads(await open(answer, { ...dialect, item: '' }), { query: {} });
    const bytes = new Set<string>();
    for await (const { leads } of pages) for (const one of leads) bytes.add(String(one.bytes));
    expect(bytes.size).toBe(count);
    for (const one of bytes) expect(one).toMatch(/"(node|doc|_source|lead)":\{"name"/);
  });
});

it('another name of the id drops what a service sends again', async () => {
  const at = await open(
    (query) => {
      const offset = Number(query.get('offset') ?? 0);
      const from = Math.max(0, offset - 2);
      return `{"data":[${elements(from, 10, (nth) => lead(nth, 'uuid'))}],"next_offset":${offset + 8 < count ? offset + 8 : null}}`;
    },
    { id: 'uuid' },
  );
  const { ids, stats } = await walk(at);
  expect(ids).toEqual(all.map((_, nth) => `l-${nth}`));
  expect(stats.withoutId).toBe(0);
});

it.each([
  ['first', 'null'],
  ['later', '{"id":"bare"}'],
])(
  'a page whose element holds no lead fails the walk wherever it stands: on the %s page',
  async (which, bad) => {
    const at = await open((query) => {
      const page = Number(query.get('page') ?? 1);
      const isBad = which === 'first' || page === 2;
      const last = isBad ? (bad === 'null' ? '{"node":null}' : bad) : `{"node":${lead(page * 2 + 1)}}`;
      return `{"edges":[{"node":${lead(page * 2)}},${last}],"page":${page},"total_pages":3}`;
    });
    await expect(walk(at)).rejects.toMatchObject({
      code: 'invalid_data',
      message: 'element 2 of the page holds no lead: there is no object at /node',
      hint: expect.stringContaining('leads config set api.item ""') as string,
    });
  },
);

it('a probed page whose element holds no lead is no page that the service rejects', async () => {
  const at = await open((query) => {
    const from = Number(query.get('offset') ?? 0);
    return from === 0 ? `[${elements(0, 3, (nth) => `{"lead":${lead(nth)}}`)}]` : `[{"lead":"${from}"}]`;
  });
  await expect(walk(at)).rejects.toThrow('there is no object at /lead');
});

it('a pointer that no JSON Pointer is fails before the first request', async () => {
  const { server, service } = await replying(() => [], { dialect: { item: 'node' } });
  await expect(walk(service)).rejects.toMatchObject({ code: 'config' });
  expect(server.requests).toEqual([]);
});
