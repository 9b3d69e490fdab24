import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import { IdSet } from '../../src/lead/id-set.ts';
import { sendJson } from '../support/service.ts';
import { openedAt, replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

type Reply = (
  query: URLSearchParams,
  nth: number,
  response: ServerResponse,
  request: IncomingMessage,
) => unknown;

const stub = (reply: Reply, dialect: Dialect = {}) =>
  replying(({ query, nth, response, request }) => reply(query, nth, response, request), { dialect });

const leads = (from: number, to: number): { id: string }[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: `l${from + i}` }));
const names = (from: number, to: number): string[] => leads(from, to).map(({ id }) => id);

describe('a last page that new leads in front filled with known ones', () => {
  const moving =
    (start: (query: URLSearchParams) => number): Reply =>
    (query, nth) => {
      // One lead arrives between the second page and the third.
      const list = leads(nth < 2 ? 1 : 0, 9);
      return { data: list.slice(start(query), start(query) + 4) };
    };

  it.each([
    ['page', (query: URLSearchParams) => (Number(query.get('page') ?? 1) - 1) * 4],
    ['offset', (query: URLSearchParams) => Number(query.get('offset') ?? 0)],
  ] as const)('is an ordinary end of numbered pages: %s', async (pagination, start) => {
    const { service } = await stub(moving(start), { pagination });
    const { ids } = await walk(service);
    expect(new Set(ids)).toEqual(new Set(names(0, 9)));
    expect(ids).toHaveLength(9);
  });

  it('is none when one follows another', async () => {
    const { service } = await stub((_, nth) => leads(0, 4 - Math.min(nth, 2)), { pagination: 'offset' });
    await expect(walk(service)).rejects.toThrow('brought no new lead');
  });
});

describe('a walk ends with an error, never with a loop,', () => {
  it('when the cursor repeats', async () => {
    const { service } = await stub((query) => ({
      data: query.get('cursor') === 'a' ? leads(5, 9) : leads(0, 5),
      next_cursor: 'a',
    }));
    await expect(walk(service)).rejects.toThrow('was read before');
  });

  it('when the next URL is its own', async () => {
    const { service } = await stub(() => ({ data: leads(0, 5), next: '?page=2' }));
    await expect(walk(service)).rejects.toThrow(/brought no new lead|was read before/);
  });

  it('when an asked-for style is ignored', async () => {
    const page = await stub(() => ({ data: leads(0, 5) }), { pagination: 'page' });
    await expect(walk(page.service)).rejects.toThrow('no position leads further');
    const offset = await stub(() => ({ data: leads(0, 5) }), { pagination: 'offset' });
    await expect(walk(offset.service)).rejects.toThrow('no position leads further');
  });
});

describe('a walk goes on', () => {
  it('with large numbers as cursors, by their digits', async () => {
    const exact = await stub((query, _, response) => {
      if (query.has('cursor')) sendJson(response, { data: leads(2, 3), next_cursor: null });
      else sendJson(response, '{"data":[{"id":"l0"},{"id":"l1"}],"next_cursor":12345678901234567890}');
    });
    expect((await walk(exact.service)).ids).toEqual(names(0, 3));
    expect(exact.server.requests[1]).toContain('cursor=12345678901234567890');
  });

  it('with half the page size when the service refuses ours', async () => {
    const { service, server } = await stub((query, _, response) => {
      if (Number(query.get('limit')) > 100) {
        response.writeHead(422).end('{"error":"invalid","message":"limit must be at most 100"}');
        return undefined;
      }
      return { data: leads(0, 3), has_more: false };
    });
    expect((await walk(service)).ids).toEqual(names(0, 3));
    expect(server.requests).toHaveLength(2);
    await expect(walk(service, { pageSize: 500 })).rejects.toThrow('limit must be at most 100');
  });

  it('no further where a total ignores the filter', async () => {
    const { service } = await stub(() => ({ leads: leads(0, 3), total: 250 }));
    expect((await walk(service, { query: { status: 'new' } })).ids).toEqual(names(0, 3));
  });

  it('no further where the next one is null, although the own cursor is told', async () => {
    const { service } = await stub((query) =>
      query.has('cursor')
        ? { data: leads(3, 5), cursor: query.get('cursor'), next_cursor: null }
        : { data: leads(0, 3), cursor: null, next_cursor: 'b' },
    );
    expect((await walk(service)).ids).toEqual(names(0, 5));
  });

  it('and counts what came twice', async () => {
    const { service } = await stub((query) =>
      query.has('cursor')
        ? { data: [{ id: 'l3' }, { id: 'l4' }, { n: 'no id' }], next_cursor: null }
        : { data: leads(0, 4), next_cursor: 'b' },
    );
    const { ids, stats } = await walk(service);
    expect(ids).toEqual([...names(0, 5), undefined]);
    expect(stats).toMatchObject({ duplicates: 1, withoutId: 1, leads: 6, pages: 2 });
  });
});

describe('a cursor field that nobody fills', () => {
  /** Pages of four out of ten; `also` beside them. */
  const pages =
    (also: (page: number) => object, start = (page: number) => (page - 1) * 4): Reply =>
    (query) => {
      const page = Number(query.get('page') ?? 1);
      return { data: leads(start(page), Math.min(start(page) + 4, 10)), ...also(page) };
    };

  it.each([
    ['page and total', (page: number) => ({ cursor: null, page, total: 10 })],
    ['page and pages', (page: number) => ({ next_cursor: null, page, total_pages: 3 })],
    ['a total alone', () => ({ meta: { next_cursor: null, total: 10 } })],
    ['a next link beside it', (page: number) => ({ links: { next: null }, page, total: 10 })],
  ])('does not end a walk by page: %s', async (_, also) => {
    const { service } = await stub(pages(also));
    const { ids, positions } = await walk(service);
    expect(ids).toEqual(names(0, 10));
    const from = positions.find((at) => at?.style === 'page' && at.number === 3);
    if (from === undefined) throw new Error('no third page');
    const seen = new IdSet();
    for (const id of names(0, 8)) seen.preload(id);
    expect((await walk(service, { from, seen })).ids).toEqual(names(8, 10));
  });

  it('does not end a walk by offset, nor one with more to come', async () => {
    const offset = await stub((query) => {
      const at = Number(query.get('offset') ?? 0);
      return { data: leads(at, Math.min(at + 4, 10)), offset: at, total: 10, cursor: null };
    });
    expect((await walk(offset.service)).ids).toEqual(names(0, 10));
    const more = await stub((query) => {
      const at = Number(query.get('cursor')?.slice(1) ?? -1) + 1;
      return { data: leads(at, Math.min(at + 4, 10)), cursor: null, has_more: at + 4 < 10 };
    });
    expect((await walk(more.service)).ids).toEqual(names(0, 10));
  });

  it('is an error where nothing leads to the rest', async () => {
    const ignoring = await stub(() => ({ data: leads(0, 4), cursor: null, total: 10 }));
    await expect(walk(ignoring.service)).rejects.toThrow('show no way past the first 4');
    const numbered = await stub(() => ({ data: leads(0, 4), cursor: null, page: 1, total: 10 }));
    await expect(walk(numbered.service)).rejects.toThrow('show no way past the first 4');
  });

  it('ends the walk where a total counts what a filter leaves out, or the page itself', async () => {
    const filtered = await stub(() => ({ data: leads(0, 20), next_cursor: null, total: 250 }));
    expect((await walk(filtered.service, { query: { status: 'new' } })).ids).toEqual(names(0, 20));
    const twice = await stub(() => ({ data: [...leads(0, 4), { id: 'l1' }], next_cursor: null, total: 5 }));
    expect((await walk(twice.service)).ids).toEqual(names(0, 4));
    expect(twice.server.requests).toHaveLength(1);
    expect(filtered.server.requests).toHaveLength(1);
  });
});

describe('a last page that brings nothing new', () => {
  it.each([
    ['a null cursor', { next_cursor: 'b' }, { next_cursor: null }],
    ['no cursor any more', { next_cursor: 'b' }, {}],
    ['no next link any more', { links: { next: '?cursor=b' } }, { links: { prev: '?x=1' } }],
    ['has_more false', { has_more: true, next_cursor: 'b' }, { has_more: false, next_cursor: 'c' }],
  ])('is an ordinary end with %s', async (_, first, last) => {
    const { service } = await stub((query) =>
      query.has('cursor') ? { data: leads(2, 4), ...last } : { data: leads(0, 4), ...first },
    );
    expect((await walk(service)).ids).toEqual(names(0, 4));
  });

  it('is an ordinary end although a total grew meanwhile, and none where it was larger all the time', async () => {
    const cut = (total: (nth: number) => number): Reply => {
      return (query, nth) =>
        query.has('cursor')
          ? { data: leads(4, 6), total: total(nth) }
          : { data: leads(0, 4), next_cursor: 'b', total: total(nth) };
    };
    const growing = await stub(cut((nth) => 6 + nth));
    expect((await walk(growing.service)).ids).toEqual(names(0, 6));
    const larger = await stub(cut(() => 9));
    await expect(walk(larger.service)).rejects.toThrow('the service counts 9 leads and gave 6');
  });

  it('is none where the page number is ignored', async () => {
    const { service } = await stub(() => ({ data: leads(0, 4), next_cursor: null, pages: 2 }));
    await expect(walk(service)).rejects.toThrow('brought no new lead');
  });
});

describe('a walk that was cut off while it probed for a next page', () => {
  it('begins again where that is not known yet', async () => {
    const { service } = await stub((query) => {
      const offset = Number(query.get('offset') ?? 0);
      return leads(offset, Math.min(offset + 20, 50));
    });
    const { ids, positions } = await walk(service);
    expect(ids).toEqual(names(0, 50));
    for (const from of positions) {
      if (from === undefined) continue;
      const seen = new IdSet();
      const before = from.style === 'offset' ? from.number + 1 : 20;
      for (const id of names(0, before)) seen.preload(id);
      expect((await walk(service, { from, seen })).ids).toEqual(names(before, 50));
    }
  });
});

describe('a walk that was cut off between pages that a bare number names as the next', () => {
  it.each([
    [
      'page',
      (query: URLSearchParams) => (Number(query.get('page') ?? 1) - 1) * 20,
      (end: number) => end / 20 + 1,
    ],
    ['offset', (query: URLSearchParams) => Number(query.get('offset') ?? 0), (end: number) => end],
  ])('goes on by the %s that it had asked for', async (_, startOf, nextAt) => {
    const { service } = await stub((query) => {
      const start = startOf(query);
      return {
        data: leads(start, Math.min(start + 20, 90)),
        next: start + 20 < 90 ? nextAt(start + 20) : null,
      };
    });
    const { ids, positions, counts } = await walk(service);
    expect(ids).toEqual(names(0, 90));
    for (const [i, from] of positions.entries()) {
      if (from === undefined) continue;
      const seen = new IdSet();
      for (const id of names(0, counts[i] ?? 0)) seen.preload(id);
      expect((await walk(service, { from, seen })).ids).toEqual(names(counts[i] ?? 0, 90));
    }
  });
});

describe('what is said once', () => {
  it('is a status filter that was ignored', async () => {
    const { service } = await stub(() => ({
      data: [
        { id: 'a', deliveryStatus: 'new' },
        { id: 'b', deliveryStatus: 'sent\u001b[31m' },
        { id: 'c', deliveryStatus: 'sent' },
      ],
      has_more: false,
    }));
    await walk(service, { query: { status: 'new' } });
    expect(service.said().match(/note:/g)).toHaveLength(1);
    expect(service.said()).toContain('--where deliveryStatus=new');
    expect(service.said()).not.toContain('\u001b');
  });
});

describe('what is asked for', () => {
  it('is named by the dialect, and dates are a day wider', async () => {
    const { service, server } = await stub(() => ({ list: { rows: leads(0, 1) }, on: { to: null } }), {
      path: '/v2/leads?account=7',
      items: '/list/rows',
      next: '/on/to',
      dateFormat: 'unix',
      params: { limit: 'n', status: null, category: 'type', since: 'from', until: 'to' },
    });
    const at = Date.UTC(2026, 0, 10);
    const query = { status: 'new', categories: ['solar'], since: at, until: at + 1000 };
    expect((await walk(service, { query, pageSize: 5 })).ids).toEqual(['l0']);
    const day = 86_400;
    expect(Object.fromEntries(new URL(server.requests[0] ?? '', 'http://x').searchParams)).toEqual({
      account: '7',
      n: '5',
      type: 'solar',
      from: String(at / 1000 - day),
      to: String(at / 1000 + 1 + day),
    });
  });

  it('is left to the filter here when several categories will do', async () => {
    const { service, server } = await stub(() => leads(0, 1));
    await walk(service, { query: { categories: ['a', 'b'], since: 0 } });
    expect(server.requests[0]).toBe('/api/leads?limit=1000');
  });

  it('lies below the path of the base URL', async () => {
    const { server } = await stub(() => leads(0, 1));
    const service = await openedAt(`${server.url}/tenant/7/`);
    await walk(service);
    expect(server.requests[0]).toMatch(/^\/tenant\/7\/api\/leads\?/);
  });
});
