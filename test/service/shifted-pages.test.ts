import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { IdSet } from '../../src/lead/id-set.ts';
import type { ListingOptions } from '../../src/service/listing-types.ts';
import { type Asked, replying } from '../support/replying.ts';
import { mayBeCut, walk, type Walked } from '../support/walk.ts';

interface AskedOfList extends Pick<Asked, 'query' | 'response'> {
  readonly list: string[];
}

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `l${from + i}`);
const records = (ids: readonly string[]): { id: string }[] => ids.map((id) => ({ id }));
const number = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
function refuse(response: ServerResponse): void {
  response.writeHead(400).end('{"error":"invalid","message":"no"}');
}
const pageOf = ({ query, list }: Pick<AskedOfList, 'query' | 'list'>, cap: number, first = 1): string[] => {
  const size = Math.min(cap, number(query, 'limit', cap));
  const start = (number(query, 'page', first) - first) * size;
  return list.slice(start, start + size);
};

/** Walks a list that changes before some requests, by their number from 0. */
async function walkOver(
  list: string[],
  reply: (asked: AskedOfList) => unknown,
  changes: Readonly<Record<number, () => void>> = {},
  options: Partial<ListingOptions> = {},
): Promise<Walked & { readonly requests: string[] }> {
  const { server, service } = await replying((asked) => {
    changes[asked.nth]?.();
    return reply({ ...asked, list });
  });
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

it('a lead that moves from behind to the middle of what was read is found', async () => {
  const list = names(0, 65);
  const { ids, completion } = await walkOver(list, ({ query }) => {
    const page = number(query, 'page', 1);
    const size = Math.min(10, number(query, 'limit', 10));
    // The list is sorted by something else than time, by which that lead is the fifteenth now.
    if (page === 4 && size === 10 && list[14] === 'l14') list.splice(14, 0, ...list.splice(58, 1));
    return { data: records(list.slice(size * (page - 1), size * page)), page };
  });
  expect([completion?.kind, ids.includes('l58')]).toEqual(['complete', true]);
});

it('a lead is not passed over where the one in front of it moves behind it, to a page of its own', async () => {
  const list = names(0, 13);
  const { ids } = await walkOver(
    list,
    (asked) => {
      const page = number(asked.query, 'page', 1);
      return { data: records(pageOf(asked, 6)), page, has_more: page * 6 < list.length };
    },
    { 2: () => void list.push(...list.splice(11, 1)) },
  );
  expect(ids).toEqual(expect.arrayContaining(names(0, 13)));
});

it('a lead that moved to the front is found behind others that moved there after it', async () => {
  const list = names(0, 24);
  const toFront = (id: string): void => void list.unshift(...list.splice(list.indexOf(id), 1));
  const { ids } = await walkOver(
    list,
    (asked) => {
      const page = number(asked.query, 'page', 1);
      return { data: records(pageOf(asked, 4)), page, has_more: page * 4 < list.length };
    },
    { 5: () => ['l20', 'l8', 'l6', 'l4', 'l0'].forEach(toFront) },
  );
  expect(ids).toEqual(expect.arrayContaining(names(0, 24)));
});

it('a page is not everything where leads vanish while an offset is tried', async () => {
  const list = names(0, 9);
  const walked = walkOver(
    list,
    ({ query, response }) => {
      const offset = number(query, 'offset', 0);
      if (offset > 0 && offset >= list.length) {
        refuse(response);
        return undefined;
      }
      return records(list.slice(offset, offset + Math.min(7, number(query, 'limit', 7))));
    },
    {
      2: () => {
        list.splice(6, 1);
        list.splice(1, 1);
      },
      3: () => void list.pop(),
    },
  );
  await expect(walked).rejects.toThrow(mayBeCut);
});

it('the only page left of two is read again where leads vanish while positions are tried', async () => {
  const list = names(0, 9);
  const { ids } = await walkOver(list, (asked) => records(pageOf(asked, 8, 0)), {
    1: () => void list.splice(1, 1),
  });
  expect(ids).toEqual(expect.arrayContaining(list));
});

it('a lead is not passed over that moves to the end before the border is looked at', async () => {
  const list = names(0, 15);
  const toEnd = (id: string): void => void list.push(...list.splice(list.indexOf(id), 1));
  const { ids, completion } = await walkOver(
    list,
    (asked) => {
      const page = number(asked.query, 'page', 1);
      const data = records(pageOf(asked, 8));
      return { data, next: page * 8 < list.length ? { page: page + 1 } : null };
    },
    { 1: () => toEnd('l2'), 2: () => toEnd('l8') },
  );
  expect(ids).toEqual(expect.arrayContaining(names(0, 15)));
  expect(completion).toMatchObject({ kind: 'complete' });
});

describe('a total that stands', () => {
  const atStart = Date.now() - 3_600_000;
  /** Leads that say when they were created; those that arrive are younger than the walk. */
  const dated = ({ query, list }: AskedOfList): unknown => ({
    data: pageOf({ query, list }, 5).map((id) => ({
      id,
      createdAt: new Date(id === 'new' ? Date.now() + 60_000 : atStart).toISOString(),
    })),
    page: number(query, 'page', 1),
    total: list.length,
  });
  it('spares a second reading of pages', async () => {
    const { requests } = await walkOver(names(0, 18), dated, {}, { pageSize: 5 });
    expect(requests).toHaveLength(4);
  });
});

it('a list of an address that names page 1 is read again where its second page moved up meanwhile', async () => {
  const list = names(0, 4);
  const { service } = await replying(
    ({ query, nth }) => {
      if (nth === 1) list.shift();
      return records(pageOf({ query, list }, 3));
    },
    { dialect: { path: '/api/leads?page=1' } },
  );
  expect((await walk(service)).ids).toContain('l3');
});

describe('a total that a resumed walk goes on with', () => {
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
          ...{ style: 'page', param: 'page', number: 4, size: 7 },
          totals: { met: 21, first: 30, last: 30 },
        },
      },
    );
    expect([...read, ...ids].sort()).toEqual([...list].sort());
  });
});

describe('pages that are counted from 0', () => {
  it('are found where the number behind the last one is rejected, and an offset is ignored', async () => {
    const { ids } = await walkOver(names(0, 70), (asked) => {
      const page = pageOf(asked, 40, 0);
      if (page.length > 0) return records(page);
      refuse(asked.response);
      return undefined;
    });
    expect(ids).toEqual(names(0, 70));
  });
});

describe('a total below what came', () => {
  it.each([
    ['beside a page number', (asked: AskedOfList) => ({ page: number(asked.query, 'page', 1) })],
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
    await expect(cut).rejects.toThrow(mayBeCut);
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
  const known = ({ query }: AskedOfList, ...names: string[]): boolean =>
    [...query.keys()].every((name) => names.includes(name));

  it('is asked once more without limit before its list counts as empty', async () => {
    const { ids } = await walkOver(
      names(0, 43),
      (asked) => (known(asked) ? records(asked.list) : []),
      {},
      { acceptUnproven: () => undefined },
    );
    expect(ids).toEqual(names(0, 43));
    const empty = await walkOver([], (asked) => records(asked.list));
    expect(empty.completion).toEqual({ kind: 'complete', evidence: 'empty' });
    expect(empty.requests).toHaveLength(2);
  });

  it('is unproven at a usual cap, since an empty page is no proof there', async () => {
    const capped = walkOver(names(0, 80), (asked) => (known(asked) ? records(asked.list.slice(0, 50)) : []));
    await expect(capped).rejects.toThrow(mayBeCut);
  });
});
