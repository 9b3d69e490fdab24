import { expect, it } from 'vitest';
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

const wrapped: Answer = (query) => {
  const page = Number(query.get('page') ?? 1);
  const leads = elements((page - 1) * 10, 10, (nth) => `{"lead": ${lead(nth)} }`);
  return `{"leads":[${leads}],"page":${page},"total_pages":3}`;
};

it('gives the own bytes of every lead inside an element, or the elements whole where the dialect says so', async () => {
  const [bare, whole] = await Promise.all(
    [{}, { item: '' }].map(async (dialect) => {
      const pages = listLeads(await open(wrapped, dialect), { query: {} });
      const bytes: string[] = [];
      for await (const { leads } of pages) bytes.push(...leads.map((one) => String(one.bytes)));
      return bytes;
    }),
  );
  expect(bare).toEqual(all);
  expect(whole).toEqual(all.map((one) => `{"lead":${one}}`));
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
