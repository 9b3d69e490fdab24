import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import type { ListingOptions } from '../../src/service/listing-types.ts';
import { sendJson } from '../support/service.ts';
import { type Asked, replying } from '../support/replying.ts';
import { mayBeCut, walk, type Walked } from '../support/walk.ts';

type Reply = (asked: Asked) => unknown;

async function walked(
  reply: Reply,
  dialect: Dialect = {},
  options: Partial<ListingOptions> = {},
): Promise<Walked & { requests: string[]; said: string }> {
  const { server, service } = await replying(reply, { dialect });
  const result = await walk(service, options);
  return { ...result, requests: server.requests, said: service.said() };
}

const leads = (from: number, to: number): { id: string }[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: `l${from + i}` }));
const names = (from: number, to: number): string[] => leads(from, to).map(({ id }) => id);
const numberIn = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
const refuse = (response: ServerResponse, status: number): unknown =>
  response.writeHead(status).end('{"error":"invalid","message":"no"}').statusCode;

const all = 243;

describe('the probes', () => {
  it('ask for one lead alone where an offset is rejected and the page is full', async () => {
    const strict =
      (isLimited: boolean): Reply =>
      ({ query, response }) => {
        const isOdd = [...query.keys()].some((name) => name !== 'limit' && name !== 'seite');
        if (isOdd) return refuse(response, 400);
        return leads(0, isLimited ? Math.min(100, numberIn(query, 'limit', 100)) : 100);
      };
    for (const isLimited of [true, false]) await expect(walked(strict(isLimited))).rejects.toThrow(mayBeCut);
  });

  it.each(['limit', 'per_page', 'pageSize'])(
    'leave it unproven where every position is ignored and %s shows that the page is full',
    async (name) => {
      const shown: Reply = () => ({ leads: leads(0, 12), meta: { offset: 0, [name]: 12 } });
      await expect(walked(shown)).rejects.toThrow(mayBeCut);
    },
  );
});

/** Pages of 50 by number, out of 243; `also` beside them. */
const paged =
  (also: (page: number, last: boolean) => object, param = 'page', first = 1): Reply =>
  ({ query }) => {
    const page = numberIn(query, param, first) - first;
    return { data: leads(page * 50, Math.min(page * 50 + 50, all)), ...also(page + first, page >= 4) };
  };
const skipped =
  (also: (offset: number, last: boolean) => object, param = 'offset'): Reply =>
  ({ query }) => {
    const offset = numberIn(query, param, 0);
    return { data: leads(offset, Math.min(offset + 50, all)), ...also(offset, offset + 50 >= all) };
  };
const byId =
  (also: (more: boolean) => object): Reply =>
  ({ query }) => {
    const offset = Number(query.get('starting_after')?.slice(1) ?? -1) + 1;
    return { data: leads(offset, Math.min(offset + 50, all)), ...also(offset + 50 < all) };
  };

const signals: readonly { readonly signal: string; readonly reply: Reply }[] = [
  {
    signal: 'links.next.offset',
    reply: skipped((offset, last) => ({ links: { next: last ? null : { offset: offset + 50 } } })),
  },
  {
    signal: 'links as a list',
    reply: paged((page, last) => ({
      links: last ? [{ rel: 'self', href: '?page=5' }] : [{ rel: 'next', href: `?page=${page + 1}` }],
    })),
  },
  { signal: 'last: false', reply: paged((number, last) => ({ number, last })) },
  { signal: 'has_more: "true"', reply: byId((more) => ({ has_more: String(more) })) },
  { signal: 'has_more: 1', reply: byId((more) => ({ has_more: more ? 1 : 0 })) },
  { signal: 'a page number from 0', reply: paged((page) => ({ page, total: all }), 'page', 0) },
];

describe('a signal is understood:', () => {
  it.each(signals)('$signal', async ({ reply }) => {
    const { ids, completion } = await walked(reply);
    expect(ids).toEqual(names(0, all));
    expect(completion?.kind).toBe('complete');
  });

  it('a Link header with single quotes', async () => {
    const { ids, completion } = await walked(({ query, response }) => {
      const page = numberIn(query, 'page', 1);
      const link = page >= 5 ? {} : { link: `</api/leads?page=${page + 1}>; rel='next'` };
      sendJson(response, leads(page * 50 - 50, Math.min(page * 50, all)), link);
      return undefined;
    });
    expect(ids).toEqual(names(0, all));
    expect(completion?.kind).toBe('complete');
  });
});

describe('evidence to the contrary leaves a walk unproven:', () => {
  const contrary: readonly {
    readonly name: string;
    readonly reply: Reply;
    readonly dialect?: Dialect;
    readonly says: string;
  }[] = [
    {
      name: 'a total that an explicit end does not reach',
      reply: ({ query }) =>
        query.has('cursor')
          ? { data: leads(50, 100), next_cursor: null, total: all }
          : { data: leads(0, 50), next_cursor: 'x', total: all },
      says: 'the service counts 243 leads and gave 100',
    },
    {
      name: 'has_more beside an empty page',
      reply: () => ({ data: [], has_more: true }),
      says: 'there is more',
    },
    {
      name: 'has_more beside records without id',
      reply: () => ({ data: [{ n: 1 }, { n: 2 }], has_more: true }),
      says: 'there is more',
    },
    {
      name: 'an empty page 3 of 7',
      reply: paged((page) => (page < 3 ? { page, total_pages: 7 } : { data: [], page, total_pages: 7 })),
      says: 'page 3 of 7 is empty',
    },
    {
      name: 'a total that becomes 0',
      reply: ({ query }) => {
        const page = numberIn(query, 'page', 1);
        return page < 3
          ? { data: leads(page * 50 - 50, page * 50), page, total: all }
          : { data: [], page, total: 0 };
      },
      says: 'the service counted leads at first, and none in the end',
    },
    {
      name: 'api.pagination none and a total',
      reply: () => ({ data: leads(0, 20), total: all }),
      dialect: { pagination: 'none' },
      says: 'the service counts 243 leads and gave 20',
    },
    {
      name: 'api.pagination none and has_more',
      reply: () => ({ data: leads(0, 20), has_more: true }),
      dialect: { pagination: 'none' },
      says: 'there is more',
    },
    {
      name: 'api.pagination link, no Link header, and a total',
      reply: () => ({ data: leads(0, 20), total: all }),
      dialect: { pagination: 'link' },
      says: 'has 243 leads, and its answers show no way past the first 20',
    },
    {
      name: 'a cursor that the service names and rejects',
      reply: ({ query, response }) =>
        query.has('cursor') ? refuse(response, 404) : { data: leads(0, 20), next_cursor: 'x' },
      says: 'rejected the page behind the last one',
    },
    {
      name: 'deep pages that are rejected behind a full one',
      reply: ({ query, response }) => {
        const page = numberIn(query, 'page', 1);
        return page > 3 ? refuse(response, 400) : { data: leads(page * 50 - 50, page * 50), page };
      },
      says: 'rejected the page behind the last one',
    },
  ];

  it.each(contrary)('$name', async ({ reply, dialect, says }) => {
    await expect(walked(reply, dialect)).rejects.toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining(says) as string,
    });
  });

  it('and a capped total is passed, where pages go on behind it', async () => {
    const { ids } = await walked(paged((page) => ({ page, total: 100 })));
    expect(ids).toEqual(names(0, all));
  });

  it('and api.next that points nowhere is no end', async () => {
    const { ids } = await walked(
      paged(() => ({})),
      { next: '/nothing/here' },
    );
    expect(ids).toEqual(names(0, all));
  });

  it('and an error beside an empty later page is one', async () => {
    const failing: Reply = ({ query }) =>
      query.has('cursor')
        ? { data: [], error: 'quota', message: 'the plan has ended' }
        : { data: leads(0, 20), next_cursor: 'x' };
    await expect(walked(failing)).rejects.toThrow('the plan has ended');
  });
});

describe('an end that is one is no failure:', () => {
  const ends: readonly { readonly name: string; readonly reply: Reply }[] = [
    ...[0, '0', -1, ''].map((marker) => ({
      name: `the end marker ${JSON.stringify(marker)}`,
      reply: paged((page, last) => ({ next_page: last ? marker : page + 1 })),
    })),
    { name: 'the last page that is counted is empty', reply: paged((page) => ({ page, total_pages: 6 })) },
    {
      name: '400 behind a page that is shorter than the others',
      reply: ({ query, response }) => {
        const page = numberIn(query, 'page', 1);
        if (page > 5) return refuse(response, 400);
        return { data: leads(page * 50 - 50, Math.min(page * 50, all)), page };
      },
    },
  ];

  it.each(ends)('$name', async ({ reply }) => {
    const { ids, completion } = await walked(reply);
    expect(ids).toEqual(names(0, all));
    expect(completion?.kind).toBe('complete');
  });
});
