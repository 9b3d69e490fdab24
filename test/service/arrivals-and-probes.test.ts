import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ListingOptions } from '../../src/service/listing-types.ts';
import { IdSet } from '../../src/lead/id-set.ts';
import { replying } from '../support/replying.ts';
import { mayBeCut, walk, type Walked } from '../support/walk.ts';

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `l${from + i}`);
const records = (ids: readonly string[]): { id: string }[] => ids.map((id) => ({ id }));

interface Service {
  readonly list: string[];
  /** Called before each answer, with the number of the request from 0. */
  readonly change: (nth: number, list: string[]) => void;
  /** The body of the answer, unless the response was ended. */
  readonly reply: (query: URLSearchParams, list: readonly string[], response: ServerResponse) => unknown;
}

async function walkOver(
  { list, change, reply }: Service,
  options: Partial<ListingOptions> = {},
): Promise<Walked & { readonly requests: readonly string[] }> {
  const { server, service } = await replying(({ query, nth, response }) => {
    change(nth, list);
    return reply(query, list, response);
  });
  return { ...(await walk(service, options)), requests: server.requests };
}

const still = (): void => undefined;
function refuse(response: ServerResponse, status = 400): number {
  response.writeHead(status).end('{"error":"invalid","message":"no"}');
  return status;
}
const number = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
const sliced = (list: readonly string[], start: number, size: number): { id: string }[] =>
  records(list.slice(start, start + size));
const numbered =
  (cap: number, first: number) =>
  (query: URLSearchParams, list: readonly string[]): { id: string }[] =>
    sliced(list, (number(query, 'page', first) - first) * cap, cap);

/** So many leads in front before each of the requests from `from` on. */
function arriving(many: number, from: number, to = Infinity): Service['change'] {
  let made = 0;
  return (nth, list) => {
    if (nth < from || nth >= to) return;
    for (let i = 0; i < many; i += 1) list.unshift(`new${(made += 1)}`);
  };
}

describe('leads that arrive while a list is read', () => {
  it.each([
    ['before every request', 0, 2],
    ['before every request, more than a border shows', 0, 4],
  ])('leave no walk over silent pages from 0 unproven: %s', async (_, from, many) => {
    const service = { list: names(0, 60), change: arriving(many, from + 1), reply: numbered(9, 0) };
    const { ids, completion } = await walkOver(service);
    expect(completion?.kind).toBe('complete');
    expect(ids).toEqual(expect.arrayContaining(names(0, 60)));
  });

  it('are no gap where pages are requested several at once', async () => {
    const service: Service = {
      list: names(0, 60),
      change: arriving(2, 1),
      reply: (query, list) => {
        const offset = number(query, 'offset', 0);
        return { data: sliced(list, offset, 7), next_offset: offset + 7 < list.length ? offset + 7 : null };
      },
    };
    const { ids, completion } = await walkOver(service, { concurrency: 4 });
    expect(completion?.kind).toBe('complete');
    expect(ids).toEqual(expect.arrayContaining(names(0, 60)));
  });

  it('are no gap where the service ignores a small limit and its last page is short', async () => {
    const service: Service = {
      list: names(0, 12),
      change: arriving(1, 3, 4),
      reply: (query, list) => {
        const page = number(query, 'page', 1);
        return {
          data: sliced(list, (page - 1) * 9, 9),
          next: page * 9 < list.length ? { page: page + 1 } : null,
        };
      },
    };
    expect((await walkOver(service)).completion?.kind).toBe('complete');
  });

  it('are no gap at the end of the list', async () => {
    let made = 0;
    const service: Service = {
      list: names(0, 45),
      change: (nth, list) => {
        if (nth > 1 && made < 30) list.push(`new${(made += 1)}`);
      },
      reply: (query, list) => {
        const page = number(query, 'page', 1);
        return { data: sliced(list, (page - 1) * 20, 20), page };
      },
    };
    expect((await walkOver(service)).completion?.kind).toBe('complete');
  });
});

describe('a service whose first page says nothing is not taken for one that does not page', () => {
  /** The walk ends complete, with every lead that was there all the time. */
  async function expectComplete(service: Service, options: Partial<ListingOptions> = {}): Promise<void> {
    const first = [...service.list];
    const { ids, completion } = await walkOver(service, options);
    expect(completion?.kind).toBe('complete');
    expect(ids).toEqual(expect.arrayContaining(first.filter((id) => service.list.includes(id))));
  }

  /** The walk says that its only page may be a part of the list. */
  async function expectMayBeCut(service: Service, options: Partial<ListingOptions> = {}): Promise<void> {
    await expect(walkOver(service, options)).rejects.toThrow(mayBeCut);
  }

  it.each([1, 2, 3])(
    'where two pages from 0 end with 400, and a lead arrives before request %d',
    async (nth) => {
      const reply: Service['reply'] = (query, list, response) => {
        const page = numbered(40, 0)(query, list);
        return page.length > 0 ? page : refuse(response);
      };
      await expectComplete({ list: names(0, 70), change: arriving(1, nth, nth + 1), reply });
    },
  );

  it.each([
    ['before them', (own: readonly string[], former: readonly string[]) => [...former, ...own]],
    ['after them', (own: readonly string[], former: readonly string[]) => [...own, ...former]],
  ])('where the leads after an id come with three former ones %s', async (_, join) => {
    const reply: Service['reply'] = (query, list) => {
      const start = list.indexOf(query.get('starting_after') ?? '') + 1;
      const own = list.slice(start, start + Math.min(7, number(query, 'limit', 7)));
      return records(join(own, list.slice(Math.max(0, start - 3), start)));
    };
    await expect(walkOver({ list: names(0, 17), change: still, reply })).rejects.toThrow(
      'the service listed leads that its page lacks',
    );
  });

  it('where it rejects every parameter but a page number from 0', async () => {
    const reply: Service['reply'] = (query, list, response) => {
      const isKnown = [...query.keys()].every((name) => name === 'page' || name === 'limit');
      const page = numbered(40, 0)(query, list);
      return isKnown && page.length > 0 ? page : refuse(response);
    };
    const { ids } = await walkOver({ list: names(0, 70), change: still, reply });
    expect(ids).toEqual(names(0, 70));
  });

  describe.each([4, 5, 6, 7, 12])('where %d leads arrive before each probe', (many) => {
    it.each([5, 6])('of pages of %d, beside a total that may ignore the filter', async (cap) => {
      const reply: Service['reply'] = (query, list) => ({
        data: numbered(cap, 1)(query, list),
        total: list.length,
      });
      const service = { list: names(0, 40), change: arriving(many, 1, 4), reply };
      // The second page is the first one of before, as where the number is ignored.
      const expectEnd = many === cap ? expectMayBeCut : expectComplete;
      await expectEnd(service, { query: { status: 'new' } });
    });
  });

  it('where leads that arrive push others off its only page', async () => {
    const service: Service = {
      list: names(0, 60),
      change: arriving(1, 1),
      reply: (_, list) => sliced(list, 0, 37),
    };
    await expect(walkOver(service)).rejects.toThrow(mayBeCut);
  });

  it('where the first lead moves to the very place that is probed', async () => {
    const reply: Service['reply'] = (query, list) =>
      sliced(list, number(query, 'offset', 0), Math.min(20, number(query, 'limit', 20)));
    const change: Service['change'] = (nth, list) => {
      if (nth === 2) list.splice(20, 0, ...list.splice(0, 1));
    };
    await expectMayBeCut({ list: names(0, 50), change, reply });
  });

  it.each([0, 1].flatMap((base) => [1, 2, 3].map((nth) => ({ base, nth }))))(
    'where a lead vanishes before request $nth, and the one behind the first page of pages from $base moves to it',
    async ({ base, nth }) => {
      const change: Service['change'] = (request, list) => {
        if (request === nth) list.splice(3, 1);
      };
      await expectComplete({ list: names(0, 9), change, reply: numbered(8, base) });
    },
  );

  it('where a lead vanishes before an offset is tried, and the one behind the first page moves to it', async () => {
    const reply: Service['reply'] = (query, list) => sliced(list, number(query, 'offset', 0), 8);
    const change: Service['change'] = (nth, list) => {
      if (nth === 2) list.splice(3, 1);
    };
    await expectMayBeCut({ list: names(0, 9), change, reply });
  });

  it('where a total that a filter narrows is out of reach since every offset is rejected', async () => {
    const reply: Service['reply'] = (query, list, response) =>
      [...query.keys()].some((name) => name !== 'status' && name !== 'limit')
        ? refuse(response)
        : { data: sliced(list, 0, 11), total: list.length };
    const walked = walkOver({ list: names(0, 15), change: still, reply }, { query: { status: 'new' } });
    await expect(walked).rejects.toThrow(mayBeCut);
  });
});

describe('a lead that moves is not passed over', () => {
  it('to the front of a walk that is resumed, further than the first pages', async () => {
    const list = names(0, 60);
    const seen = new IdSet();
    const read = names(0, 30);
    for (const id of read) seen.preload(id);
    const service: Service = {
      list,
      change: (nth) => {
        if (nth === 1) list.unshift(...list.splice(50, 5));
        // Known ones hide them.
        if (nth === 2) list.unshift(...list.splice(20, 14));
      },
      reply: (query, now) => {
        const offset = number(query, 'offset', 0);
        return { data: sliced(now, offset, 5), offset };
      },
    };
    const window = { covered: 30, last: 'l29', largest: 5, inserted: 0 };
    const from = { style: 'offset', param: 'offset', number: 29, size: 5, window } as const;
    const { ids } = await walkOver(service, { seen, from });
    expect([...read, ...ids]).toEqual(expect.arrayContaining(names(0, 60)));
  });
});

it('a walk over pages from 0 that is resumed while one lead arrives does not go back and forth', async () => {
  const seen = new IdSet();
  for (const id of names(0, 30)) seen.preload(id);
  const from = { style: 'page', param: 'page', number: 3, size: 10 } as const;
  const reply: Service['reply'] = (query, list) => {
    const size = Math.min(10, number(query, 'limit', 10));
    const page = number(query, 'page', 0);
    return { data: sliced(list, page * size, size), page };
  };
  const service = { list: ['new', ...names(0, 75)], change: still, reply };
  const { ids, requests } = await walkOver(service, { seen, from, pageSize: 10 });
  expect(ids).toEqual(expect.arrayContaining(names(30, 75)));
  expect(requests.length).toBeLessThan(40);
});

it('a page that was announced and is rejected is an end where the list has become shorter', async () => {
  const list = names(0, 9);
  const { ids } = await walkOver({
    list,
    change: (nth) => {
      if (nth === 1) list.splice(2, 1);
    },
    reply: (query, now, response) => {
      const page = number(query, 'page', 1);
      const data = numbered(8, 1)(query, now);
      if (data.length === 0) return refuse(response, 404);
      return { data, next_page: page * 8 < now.length ? page + 1 : null };
    },
  });
  expect(ids).toEqual(names(0, 9));
});

it('one page of one is no proof that there is no other', async () => {
  const reply =
    (pages: number): Service['reply'] =>
    (query, list) => ({
      data: numbered(120, 1)(query, list),
      page: number(query, 'page', 1),
      total_pages: pages,
    });
  expect((await walkOver({ list: names(0, 243), change: still, reply: reply(1) })).ids).toEqual(
    names(0, 243),
  );
  const one = await walkOver({ list: names(0, 3), change: still, reply: reply(1) });
  expect([one.ids, one.requests.length < 6]).toEqual([names(0, 3), true]);
});

it('a lead that arrived is looked for in front, and not in all of a long list again', async () => {
  const service: Service = {
    list: names(0, 400),
    change: arriving(1, 5, 6),
    reply: (query, list) => {
      const offset = number(query, 'offset', 0);
      return { data: sliced(list, offset, 20), offset };
    },
  };
  const { ids, requests } = await walkOver(service);
  expect(ids).toEqual(expect.arrayContaining(['new1', ...names(0, 400)]));
  expect(requests.length).toBeLessThan(30);
});

it.each([404, 410, 501])(
  'a walk goes on where a look at the start of the list, for a lead that arrived, is answered with %d',
  async (status) => {
    let isLastPageRead = false;
    const { ids, requests } = await walkOver({
      list: names(0, 30),
      change: arriving(1, 1, 2),
      reply: (query, list, response) => {
        const page = number(query, 'page', 1);
        if (page === 4) isLastPageRead = true;
        else if (!query.has('page') && list.includes('new1') && !isLastPageRead)
          return refuse(response, status);
        const data = sliced(list, (page - 1) * 10, 10);
        return { data, next_page: page * 10 < list.length ? page + 1 : null };
      },
    });
    expect(ids).toEqual([...names(0, 30), 'new1']);
    expect(requests.length).toBeLessThan(20);
  },
);
