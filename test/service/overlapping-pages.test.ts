import { expect, it } from 'vitest';
import { listLeads } from '../../src/service/listing/lead-pages.ts';
import { OverlappingPages } from '../../src/service/listing/overlapping-pages.ts';
import type { Position } from '../../src/service/pagination/position.ts';
import { seeded } from '../support/faulty-service.ts';
import { serviceInMemory } from '../support/service-in-memory.ts';

interface Moving {
  readonly list: string[];
  /** Leads that were there from the first request to the last. */
  readonly stayed: () => readonly string[];
  /** Deletions, each with an arrival before or behind it or without one; some arrivals go again. */
  readonly move: () => void;
}

/** A list of which leads go at random, while others arrive. */
function movingList(count: number, random: () => number): Moving {
  const pick = (below: number): number => Math.floor(random() * below);
  const list = Array.from({ length: count }, (_, i) => `l${i}`);
  const first = [...list];
  const gone = new Set<string>();
  const [isPaired, arrivesAt] = [random() < 0.6, random()];
  let arrived = 0;
  const vanish = (at: number): void => {
    for (const id of list.splice(at, 1)) gone.add(id);
  };
  const arrive = (): void => {
    arrived += 1;
    list.splice(arrivesAt < 0.7 ? 0 : pick(list.length + 1), 0, `new${arrived}`);
  };
  const leave = (): void => {
    const at = random() < 0.3 ? list.findIndex((id) => id.startsWith('new')) : pick(list.length);
    if (list.length > 1 && at >= 0) vanish(at);
  };
  const move = (): void => {
    const [one, other] = random() < 0.5 ? [arrive, leave] : [leave, arrive];
    one();
    if (isPaired) other();
  };
  return { list, stayed: () => first.filter((id) => !gone.has(id)), move };
}

/** Reads a list by overlapping pages alone; undefined where a page does not show its border, and a look has to. */
function readOverlapping(
  cap: number,
  { list, move }: Moving,
  isMoved: () => boolean,
): Set<string> | undefined {
  const pages = new OverlappingPages('limit');
  const seen = new Set<string>();
  let position: Position = { style: 'start' };
  for (;;) {
    const size: number = position.size ?? cap;
    const number = position.style === 'page' ? position.page : 1;
    const page = list.slice((number - 1) * size, number * size);
    const after: string | undefined = 'after' in position ? position.after : undefined;
    const at = after === undefined ? -1 : page.indexOf(after);
    // As of an overlapping offset: only records that were read stand in front of the one before.
    if (after !== undefined && (at < 0 || page.slice(0, at).some((id) => !seen.has(id)))) return undefined;
    const isShort = page.length < size;
    for (const id of page) seen.add(id);
    if (isShort) return seen;
    const plain: Position = { style: 'page', param: 'page', page: number + 1, after: page.at(-1) };
    const read = { position, count: page.length, size, isFull: true, bringsNew: true };
    if (position.overlap !== undefined && pages.isUntried) pages.isHonouredBy(position, page);
    position = pages.place(plain, read, 1);
    if (position.overlap === undefined) return undefined;
    if (isMoved()) move();
  }
}

it('overlapping pages pass over no lead that was there all the time, whatever goes and arrives between them', () => {
  const lost: number[] = [];
  let [read, apart] = [0, 0];
  for (let seed = 1; seed <= 20_000; seed += 1) {
    const random = seeded(seed);
    const cap = 6 + Math.floor(random() * 40);
    const moving = movingList(1 + Math.floor(random() * cap * 10), random);
    const seen = readOverlapping(cap, moving, () => random() < 0.3);
    if (seen === undefined) apart += 1;
    else read += 1;
    if (seen !== undefined && moving.stayed().some((id) => !seen.has(id))) lost.push(seed);
  }
  expect(lost).toEqual([]);
  expect(Math.min(read, apart)).toBeGreaterThan(2000);
});

/** The answer of a service that counts pages in the size that is sent, and says nothing of an end. */
function pageOf(list: readonly string[], cap: number, query: URLSearchParams): unknown {
  const size = Math.min(cap, Number(query.get('limit') ?? cap));
  const page = Number(query.get('page') ?? 1);
  return { data: list.slice((page - 1) * size, page * size).map((id) => ({ id })), page };
}

it('a walk over them has every lead that was there all the time, or says that it is unproven', async () => {
  const lost: number[] = [];
  let [complete, moved] = [0, 0];
  for (let seed = 1; seed <= 150; seed += 1) {
    const random = seeded(seed);
    const cap = 6 + Math.floor(random() * 20);
    const { list, stayed, move } = movingList(1 + Math.floor(random() * cap * 8), random);
    const ids = new Set<string | undefined>();
    let moves = Math.floor(random() * 5);
    const service = serviceInMemory((query) => {
      if (ids.size > 0 && moves > 0 && random() < 0.4) {
        moves -= 1;
        moved += 1;
        move();
      }
      return pageOf(list, cap, query);
    });
    const concurrency = seed % 3 === 0 ? 4 : 1;
    const pages = listLeads(service, { query: {}, concurrency, acceptUnproven: () => undefined });
    for await (const { leads } of pages) for (const { id } of leads) ids.add(id);
    if (pages.completion?.kind !== 'complete') continue;
    complete += 1;
    if (stayed().some((id) => !ids.has(id))) lost.push(seed);
  }
  expect(lost).toEqual([]);
  expect([complete > 100, moved > 100]).toEqual([true, true]);
});

it.each([
  [5, 1000],
  [5, 100],
  [21, 1000],
  [21, 100],
  [100, 100],
])(
  '%i pages of %i leads that do not move take at most 1.15 requests each, and those behind the end',
  async (pages, cap) => {
    const list = Array.from({ length: pages * cap - cap / 2 }, (_, i) => `l${i}`);
    let requests = 0;
    const service = serviceInMemory((query) => {
      requests += 1;
      return pageOf(list, cap, query);
    });
    const walked = listLeads(service, { query: {} });
    let leads = 0;
    for await (const batch of walked) leads += batch.leads.length;
    expect([leads, walked.completion?.kind]).toEqual([list.length, 'complete']);
    expect(requests).toBeLessThanOrEqual(Math.ceil(1.15 * pages) + 3);
  },
);

it('a service that does not count pages in the size that is sent is asked once', async () => {
  const list = Array.from({ length: 95 }, (_, i) => `l${i}`);
  const sizes: (string | null)[] = [];
  const service = serviceInMemory((query) => {
    sizes.push(query.get('limit'));
    return pageOf(list, 10, new URLSearchParams({ page: query.get('page') ?? '1' }));
  });
  const ids: (string | undefined)[] = [];
  for await (const { leads } of listLeads(service, { query: {} })) ids.push(...leads.map(({ id }) => id));
  expect(ids).toEqual(list);
  expect(sizes.filter((size) => size === '9')).toEqual(['9']);
});

it('a list with hidden leads is read by pages of one size', async () => {
  // Every page but the last is short: the places of hidden leads count.
  const places = Array.from({ length: 200 }, (_, i) =>
    i > 25 && i % 3 === 0 && i < 150 ? undefined : `l${i}`,
  );
  const service = serviceInMemory((query) => {
    const size = Math.min(20, Number(query.get('limit')));
    const page = Number(query.get('page') ?? 1);
    const ids = places.slice((page - 1) * size, page * size).filter((id) => id !== undefined);
    return { data: ids.map((id) => ({ id })), page };
  });
  const ids: (string | undefined)[] = [];
  const acceptUnproven = (): void => undefined;
  for await (const { leads } of listLeads(service, { query: {}, acceptUnproven }))
    ids.push(...leads.map(({ id }) => id));
  expect(ids).toEqual(places.filter((id) => id !== undefined));
});
