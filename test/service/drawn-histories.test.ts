import { expect, it } from 'vitest';
import { listLeads } from '../../src/service/listing/lead-pages.ts';
import { drawHistory, walkHistory } from '../support/drawn-history.ts';
import { pageAt } from '../support/moving-service.ts';
import { serviceInMemory } from '../support/service-in-memory.ts';

/** In each of them a deletion and an arrival once cancelled out, in front of a page and of the look at its border. */
const seeds = [
  8, 491, 518, 678, 975, 993, 1460, 2273, 4454, 6660, 8484, 4106, 5113, 5153, 5468, 6103, 6291, 6324, 7311,
  8538, 8643, 9212,
];

it.each(seeds)('history %i ends complete with all that was there throughout, or unproven', async (seed) => {
  const { isComplete, lost } = await walkHistory(drawHistory(seed));
  expect(isComplete ? lost : []).toEqual([]);
});

it('of drawn histories of services that ignore the limit, none ends complete with a loss', async () => {
  const found: number[] = [];
  let complete = 0;
  for (let seed = 20_001; seed <= 20_600; seed += 1) {
    const history = drawHistory(seed, ['array, page', 'page', 'next_page', 'Link with page']);
    const { isComplete, lost } = await walkHistory({
      ...history,
      page: { ...history.page, honoursLimit: false },
    });
    if (isComplete) complete += 1;
    if (isComplete && lost.length > 0) found.push(seed);
  }
  expect([found, complete > 500]).toEqual([[], true]);
});

it.each([
  [true, 46],
  [false, 46],
])(
  '21 pages that do not move, with the limit honoured: %s, are read in %i requests at most',
  async (honoursLimit, most) => {
    const list = Array.from({ length: 205 }, (_, i) => `l${i}`);
    const born = new Map(list.map((id, i) => [id, i]));
    let requests = 0;
    const service = serviceInMemory((url) => {
      requests += 1;
      return pageAt(url, list, born, { style: 'page', cap: 10, honoursLimit });
    });
    const pages = listLeads(service, { query: {} });
    let leads = 0;
    for await (const batch of pages) leads += batch.leads.length;
    expect([leads, pages.completion?.kind]).toEqual([205, 'complete']);
    expect(requests).toBeLessThanOrEqual(most);
  },
);
