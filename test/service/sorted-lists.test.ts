import { expect, it } from 'vitest';
import { IdSet } from '../../src/lead/id-set.ts';
import { listLeads } from '../../src/service/listing.ts';
import { mayHelpFromStart } from '../../src/service/listing-types.ts';
import { listKeptMoving } from '../../src/service/pagers/pager.ts';
import type { Position } from '../../src/service/pagers/position.ts';
import {
  drawHistory,
  type History,
  type Movement,
  movingList,
  walkHistory,
} from '../support/drawn-history.ts';
import { pageAt, type Style } from '../support/moving-service.ts';
import { serviceInMemory } from '../support/service-in-memory.ts';

const numbered: readonly Style[] = [
  ...(['array, page', 'page', 'next_page', 'Link with page', 'page and total_pages'] as const),
];
const orders = ['newest first', 'newest first, in groups', 'changed last first', 'oldest first'] as const;
/** In a list that is sorted by creation, nothing moves. */
const withoutMoves: Readonly<Partial<Record<Movement, Movement>>> = { move: 'replace', all: 'come and go' };

/** A history of a list with an order, whose first page is as long as a page may be. */
function sortedHistory(seed: number): History {
  const history = drawHistory(seed, numbered);
  const { movement, page, leads } = history;
  const order = orders[seed % 4];
  return {
    ...history,
    ...{ order, concurrency: seed % 10 === 0 ? 4 : 1, leads: leads * 2, pageSize: undefined },
    page: { ...page, cap: [10, 15, 20][seed % 3] ?? 10 },
    movement: (order === 'changed last first' ? undefined : withoutMoves[movement]) ?? movement,
  };
}

it.each(orders)(
  'of drawn histories of lists in the order %s, none ends complete with a loss',
  async (order) => {
    const lost: number[] = [];
    let [complete, moved] = [0, 0];
    for (let seed = 30_000 + orders.indexOf(order); seed < 30_400; seed += orders.length) {
      const walked = await walkHistory(sortedHistory(seed));
      if (walked.isComplete) complete += 1;
      if (walked.hasMoved) moved += 1;
      if (walked.isComplete && walked.lost.length > 0) lost.push(seed);
    }
    expect(lost).toEqual([]);
    expect([complete > 70, moved > 50]).toEqual([true, true]);
  },
);

it('a walk that breaks off and goes on elsewhere has all leads that were there throughout, or is unproven', async () => {
  const lost: number[] = [];
  let complete = 0;
  for (let seed = 40_001; seed <= 40_200; seed += 1) {
    const history = { ...sortedHistory(seed), concurrency: 1 };
    const { list, born, record, alter, stayed } = movingList(history);
    let requests = 0;
    const service = serviceInMemory((url) => {
      requests += 1;
      if (requests > 1) alter();
      return pageAt(url, list, born, { ...history.page, record });
    });
    const seen = new IdSet();
    const acceptUnproven = (): void => undefined;
    const options = { query: {}, seen, prefetch: true, acceptUnproven };
    let from: Position | undefined;
    let left = 2 + (seed % 9);
    for await (const { next } of listLeads(service, options)) {
      from = next ?? from;
      left -= 1;
      if (left === 0) break;
    }
    const rest = listLeads(service, { ...options, from });
    const handedOut: number[] = [];
    try {
      for await (const { leads } of rest) handedOut.push(leads.length);
    } catch (error) {
      // The position is refused, which an export answers by a walk from the start.
      expect(mayHelpFromStart(error)).toBe(true);
      continue;
    }
    if (rest.completion?.kind !== 'complete') continue;
    complete += handedOut.length > 0 ? 1 : 0;
    if (stayed().some((id) => !seen.has(id))) lost.push(seed);
  }
  expect(lost).toEqual([]);
  expect(complete).toBeGreaterThan(150);
});

it.each(['array, page', 'page'] as const)(
  'whichever request of a list of full pages (%s) a lead arrives or goes before, no other is lost',
  async (style) => {
    for (const change of ['arrive', 'go'] as const) {
      for (let at = 2; at < 24; at += 1) {
        const list = Array.from({ length: 100 }, (_, i) => `l${i}`);
        const record = (id: string): object => {
          const age = id === 'new' ? -1 : Number(id.slice(1));
          return { id, createdAt: new Date(Date.UTC(2026) - age * 1000).toISOString() };
        };
        let requests = 0;
        const service = serviceInMemory((url) => {
          requests += 1;
          if (requests === at && change === 'arrive') list.unshift('new');
          if (requests === at && change === 'go') list.splice(3, 1);
          return pageAt(url, list, new Map(), { style, cap: 10, record });
        });
        const walk = listLeads(service, {
          ...{ query: {}, prefetch: true, acceptUnproven: () => undefined },
        });
        const met = new Set<string | undefined>();
        for await (const { leads } of walk) for (const { id } of leads) met.add(id);
        const lost = list.filter((id) => id !== 'new' && !met.has(id));
        expect([change, at, walk.completion?.kind, lost]).toEqual([change, at, 'complete', []]);
      }
    }
  },
);

it.each([3, 5, 9, 12, 13, 14, 17])('a page %i that is shorter than others ends no list', async (short) => {
  for (const style of numbered) {
    const isNamed = style === 'next_page' || style === 'Link with page';
    const ids = Array.from({ length: 900 }, (_, i) => `l${i}`);
    // The service leaves out what was deleted once it has taken a page.
    const isGone = (id: string): boolean => [1, 2].includes(Number(id.slice(1)) - 50 * (short - 1));
    const record = (id: string): object => ({
      ...{ id, createdAt: new Date(Date.UTC(2026) - Number(id.slice(1)) * 1000).toISOString() },
    });
    const service = serviceInMemory((url) => {
      const page = pageAt(url, ids, new Map(), { style, cap: 50, record });
      const left = (records: readonly { readonly id: string }[]) => records.filter(({ id }) => !isGone(id));
      const body = page.body as { data?: { id: string }[] } | { id: string }[];
      return {
        ...page,
        body: Array.isArray(body) ? left(body) : { ...body, ...(body.data && { data: left(body.data) }) },
      };
    });
    const walk = listLeads(service, { query: {}, prefetch: true, acceptUnproven: () => undefined });
    const met = new Set<string | undefined>();
    for await (const { leads } of walk) for (const { id } of leads) met.add(id);
    const lost = ids.filter((id) => !isGone(id) && !met.has(id));
    // Where pages overlap, a short one cannot be told from a list that moves.
    const end = isNamed ? 'complete' : listKeptMoving;
    const { completion } = walk;
    expect([style, lost, completion?.kind === 'unproven' ? completion : completion?.kind]).toEqual([
      ...[style, []],
      end,
    ]);
  }
});
