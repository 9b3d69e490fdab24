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
const pageOf = ({ query, list }: Pick<AskedOfList, 'query' | 'list'>, cap: number): string[] => {
  const size = Math.min(cap, number(query, 'limit', cap));
  const start = (number(query, 'page', 1) - 1) * size;
  return list.slice(start, start + size);
};

async function walkOver(
  list: string[],
  reply: (asked: AskedOfList) => unknown,
  options: Partial<ListingOptions> = {},
): Promise<Walked & { readonly requests: string[] }> {
  const { server, service } = await replying((asked) => reply({ ...asked, list }));
  return { ...(await walk(service, options)), requests: server.requests };
}

describe('a total that stands', () => {
  const atStart = Date.now() - 3_600_000;
  const dated = ({ query, list }: AskedOfList): unknown => ({
    data: pageOf({ query, list }, 5).map((id) => ({
      id,
      createdAt: new Date(atStart).toISOString(),
    })),
    page: number(query, 'page', 1),
    total: list.length,
  });
  it('spares a second reading of pages', async () => {
    const { requests } = await walkOver(names(0, 18), dated, { pageSize: 5 });
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
    { seen, from: { style: 'cursor', param: 'cursor', cursor: '20' } },
  );
  expect(ids).toEqual(names(20, 50));
});

describe('a service that takes unknown parameters for filters', () => {
  /** Without a field of that name, nothing matches. */
  const known = ({ query }: AskedOfList, ...names: string[]): boolean =>
    [...query.keys()].every((name) => names.includes(name));

  it('is asked once more without limit before its list counts as empty', async () => {
    const { ids } = await walkOver(names(0, 43), (asked) => (known(asked) ? records(asked.list) : []), {
      acceptUnproven: () => undefined,
    });
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
