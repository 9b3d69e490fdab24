import { expect, it } from 'vitest';
import { listLeads } from '../../src/service/listing.ts';
import { pageAt, type PageOptions } from '../support/moving-service.ts';
import { serviceInMemory } from '../support/service-in-memory.ts';

type Bound = (pages: number) => number;
const once: Bound = (pages) => pages + 2;
const overlapping: Bound = (pages) => 1.15 * pages + 3;
/** One record of 100 comes again on each page. */
const byOneRecord: Bound = (pages) => Math.ceil((pages * 100) / 99) + 2;
const twice: Bound = (pages) => 2 * pages + 3;

const ways: readonly (readonly [string, PageOptions, Bound])[] = [
  ['cursor', { style: 'opaque cursor', cap: 3 }, once],
  ['offset and total', { style: 'offset and total', cap: 100 }, byOneRecord],
  ['offset', { style: 'offset', cap: 100 }, byOneRecord],
  ['page and total', { style: 'page and total', cap: 10 }, once],
  ['page, limit honoured', { style: 'page', cap: 100 }, overlapping],
  ['page, 1,000 a page', { style: 'page', cap: 1000 }, overlapping],
  ['page, limit ignored', { style: 'page', cap: 10, honoursLimit: false }, twice],
  ['next_page', { style: 'next_page', cap: 10 }, twice],
  ['Link with page', { style: 'Link with page', cap: 10 }, twice],
  ['next URL with offset', { style: 'next URL with offset', cap: 10 }, twice],
];

async function requestsFor(page: PageOptions, leads: number): Promise<number> {
  const list = Array.from({ length: leads }, (_, i) => `l${i}`);
  const born = new Map(list.map((id, i) => [id, i]));
  let requests = 0;
  const service = serviceInMemory((url) => {
    requests += 1;
    return pageAt(url, list, born, page);
  });
  const walk = listLeads(service, { query: {}, prefetch: true });
  let came = 0;
  for await (const batch of walk) came += batch.leads.length;
  expect([came, walk.completion?.kind]).toEqual([leads, 'complete']);
  return requests;
}

it('a list that does not move takes as many requests as its way needs', async () => {
  const rows: string[] = [];
  for (const [name, page, bound] of ways) {
    const counts: number[] = [];
    for (const pages of page.cap > 100 ? [50] : [50, 300]) {
      const requests = await requestsFor(page, pages * page.cap - 4);
      counts.push(requests);
      expect([name, pages, requests <= bound(pages)]).toEqual([name, pages, true]);
    }
    rows.push(`${name.padEnd(24)}${counts.map((count) => String(count).padStart(8)).join('')}`);
  }
  process.stdout.write(`\n${'requests for pages'.padEnd(24)}      50     300\n${rows.join('\n')}\n`);
});

it.each([
  ['one array that ignores parameters', () => undefined],
  ['one array that rejects them', (url: URL) => (url.search === '?limit=1000' ? undefined : 400)],
] as const)('%s is asked for a few times', async (_, statusOf) => {
  let requests = 0;
  const service = serviceInMemory((url) => {
    requests += 1;
    const status = statusOf(url);
    return status === undefined
      ? { body: Array.from({ length: 37 }, (__, i) => ({ id: `l${i}` })) }
      : { status, body: { error: 'no' } };
  });
  const walk = listLeads(service, { query: {}, acceptUnproven: () => undefined });
  for await (const batch of walk) expect(batch.leads.length).toBeLessThanOrEqual(37);
  expect(walk.completion).toMatchObject({ reason: { kind: 'page-may-be-cut' } });
  expect(requests).toBeLessThanOrEqual(statusOf(new URL('http://x/?page=2')) === undefined ? 5 : 11);
});
