import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { IdSet } from '../../src/lead/id-set.ts';
import type { ListingOptions } from '../../src/service/listing/listing.ts';
import type { Position } from '../../src/service/pagination/position.ts';
import { scripted, sendJson, serviceAt } from '../support/service.ts';
import { walk, type Walked } from '../support/walk.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

interface Asked {
  readonly query: URLSearchParams;
  readonly list: string[];
  readonly response: ServerResponse;
}

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `l${from + i}`);
const records = (ids: readonly string[]): { id: string }[] => ids.map((id) => ({ id }));
const number = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
function refuse(response: ServerResponse): void {
  response.writeHead(400).end('{"error":"invalid","message":"no"}');
}
const pageOf = ({ query, list }: Asked, cap: number, first = 1): string[] => {
  const size = Math.min(cap, number(query, 'limit', cap));
  const start = (number(query, 'page', first) - first) * size;
  return list.slice(start, start + size);
};

/** Walks a list that changes before some requests, by their number from 0. */
async function walkOver(
  list: string[],
  reply: (asked: Asked) => unknown,
  changes: Readonly<Record<number, () => void>> = {},
  options: Partial<ListingOptions> = {},
): Promise<Walked & { readonly requests: string[] }> {
  const server = await scripted((request, response, nth) => {
    changes[nth]?.();
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const body = reply({ query, list, response });
    if (body !== undefined) sendJson(response, body);
  });
  const service = await serviceAt(server.url);
  open.push(
    () => service.close(),
    () => server.close(),
  );
  return { ...(await walk(service, options)), requests: server.requests };
}

describe('a lead is not passed over', () => {
  it('where one goes, and another comes before the border is looked at', async () => {
    const list = names(0, 30);
    const { ids } = await walkOver(
      list,
      (asked) => ({ data: records(pageOf(asked, 7)), page: number(asked.query, 'page', 1) }),
      { 1: () => void list.shift(), 2: () => void list.unshift('new') },
      { pageSize: 7 },
    );
    expect(ids).toEqual(expect.arrayContaining(names(0, 30)));
  });

  it('where the record behind it is known from an earlier pass over the list', async () => {
    const list = names(0, 21);
    const { ids } = await walkOver(
      list,
      (asked) => ({
        data: records(pageOf(asked, 7)),
        page: number(asked.query, 'page', 1),
        total: list.length,
      }),
      {
        2: () => void list.splice(1, 1),
        3: () => void list.unshift('new'),
        6: () => void list.splice(2, 2),
      },
      { pageSize: 7 },
    );
    expect(ids).toEqual(expect.arrayContaining(names(0, 21)));
  });
});

it('a lead that moves to the front unread is found although one arrives at the end and fills the total', async () => {
  const list = names(0, 20);
  const { ids } = await walkOver(
    list,
    ({ query }) => {
      const offset = number(query, 'offset', 0);
      return { data: records(list.slice(offset, offset + 7)), offset, total: list.length };
    },
    { 1: () => void list.unshift(...list.splice(18, 1)), 2: () => void list.push('new') },
  );
  expect(ids).toEqual(expect.arrayContaining(names(0, 20)));
});

describe('a total that a resumed walk goes on with', () => {
  it('leaves no border unchecked where it fell before', async () => {
    const list = names(0, 60);
    const reply = (asked: Asked): unknown => ({
      data: records(pageOf(asked, 7)),
      page: number(asked.query, 'page', 1),
      total: list.length,
    });
    const first = await walkOver(list, reply, { 4: () => void list.splice(2, 1) });
    const from = JSON.parse(JSON.stringify(first.positions[4])) as Position;
    const seen = new IdSet();
    // It says that the borders so far were left to a total that settles nothing any more.
    expect(from.totals?.met).toBeLessThan(0);
    // The first run was killed when it had passed over l28.
    const read = [...names(0, 28), ...names(29, 36)];
    for (const id of read) seen.preload(id);
    const { ids } = await walkOver(list, reply, {}, { seen, from });
    expect([...read, ...ids]).toEqual(expect.arrayContaining(list));
  });

  it('does not count again what moved to the end after it was read', async () => {
    const list = names(0, 30);
    const seen = new IdSet();
    // The first run read three pages; before the third one, l6 moved to the end, and l14 over the border.
    const read = [...names(0, 14), ...names(15, 22)];
    for (const id of read) seen.preload(id);
    list.push(...list.splice(6, 1));
    const { ids } = await walkOver(
      list,
      (asked) => ({ data: records(pageOf(asked, 7)), total: list.length }),
      {},
      {
        seen,
        from: {
          ...{ style: 'page', param: 'page', page: 4, after: 'l21', size: 7 },
          totals: { met: 21, first: 30, last: 30 },
        },
      },
    );
    expect([...read, ...ids].sort()).toEqual([...list].sort());
  });
});

describe('pages that are counted from 0', () => {
  it('are found where the number behind the last one is rejected, and an offset is ignored', async () => {
    const { ids, requests } = await walkOver(names(0, 70), (asked) => {
      const page = pageOf(asked, 40, 0);
      if (page.length > 0) return records(page);
      refuse(asked.response);
      return undefined;
    });
    expect(ids).toEqual(names(0, 70));
    expect(requests.slice(1, 4).every((url) => /page=2|offset|page=1/.test(url))).toBe(true);
  });
});

describe('a list of one page', () => {
  it.each(['page', 'offset'])('is complete where the service gives it for every %s', async (param) => {
    const { ids, completion } = await walkOver(names(0, 11), ({ list }) => ({
      data: records(list),
      [param]: param === 'page' ? 1 : 0,
    }));
    expect(ids).toEqual(names(0, 11));
    expect(completion).toEqual({ kind: 'complete', evidence: 'not-paged' });
  });
});

describe('a total below what came', () => {
  it.each([
    ['beside a page number', (asked: Asked) => ({ page: number(asked.query, 'page', 1) })],
    ['alone', () => ({})],
  ])('proves nothing %s', async (_, also) => {
    const { ids } = await walkOver(names(0, 243), (asked) => ({
      data: records(pageOf(asked, 64)),
      total: 50,
      ...also(asked),
    }));
    expect(ids).toEqual(names(0, 243));
  });

  it('proves nothing beside an offset', async () => {
    const { ids } = await walkOver(names(0, 243), ({ query, list }) => {
      const offset = number(query, 'offset', 0);
      return { data: records(list.slice(offset, offset + 64)), offset, total: 50 };
    });
    expect(ids).toEqual(names(0, 243));
  });

  it('of a full page, with a limit that is honoured and nothing that leads further, is as long as the page', async () => {
    const cut = walkOver(names(0, 243), ({ query, list }) => {
      const data = records(list.slice(0, Math.min(100, number(query, 'limit', 100))));
      return { data, total: data.length };
    });
    await expect(cut).rejects.toMatchObject({ code: 'incomplete', exitCode: 6 });
  });
});

it('a resumed walk sends no page size where the service took none', async () => {
  const seen = new IdSet();
  for (const id of names(0, 20)) seen.preload(id);
  const { ids } = await walkOver(
    names(0, 50),
    ({ query, list, response }) => {
      if (query.has('limit')) {
        refuse(response);
        return;
      }
      const start = Number(query.get('cursor') ?? 0);
      return {
        data: records(list.slice(start, start + 20)),
        next_cursor: start + 20 < 50 ? String(start + 20) : null,
      };
    },
    {},
    { seen, from: { style: 'cursor', param: 'cursor', cursor: '20' } },
  );
  expect(ids).toEqual(names(20, 50));
});

describe('a service that takes unknown parameters for filters', () => {
  /** Without a field of that name, nothing matches. */
  const known = ({ query }: Asked, ...names: string[]): boolean =>
    [...query.keys()].every((name) => names.includes(name));

  it('is asked once more without limit before its list counts as empty', async () => {
    const { ids } = await walkOver(names(0, 43), (asked) => (known(asked) ? records(asked.list) : []));
    expect(ids).toEqual(names(0, 43));
    const empty = await walkOver([], (asked) => records(asked.list));
    expect(empty.completion).toEqual({ kind: 'complete', evidence: 'empty' });
    expect(empty.requests).toHaveLength(2);
  });

  it('is unproven where its total is not reached', async () => {
    const paged = walkOver(names(0, 43), (asked) => {
      const list = known(asked, '$skip', '$limit') ? asked.list : [];
      const skip = number(asked.query, '$skip', 0);
      return { total: list.length, limit: 10, skip, data: records(list.slice(skip, skip + 10)) };
    });
    await expect(paged).rejects.toMatchObject({ code: 'incomplete', exitCode: 6 });
  });

  it('is unproven at a usual cap, since an empty page is no proof there', async () => {
    const capped = walkOver(names(0, 80), (asked) => (known(asked) ? records(asked.list.slice(0, 50)) : []));
    await expect(capped).rejects.toMatchObject({ code: 'incomplete', exitCode: 6 });
  });
});
