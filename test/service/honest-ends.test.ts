import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import type { ListingOptions } from '../../src/service/listing-types.ts';
import { type Asked, replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

/** How a walk over a scripted service ends: its evidence, or what the error says, and the requests. */
async function endOf(
  reply: (asked: Asked) => unknown,
  dialect: Dialect = {},
  options: Partial<ListingOptions> = {},
): Promise<{ ids: number; end: string | undefined; hint: string | undefined; requests: string[] }> {
  const { server, service } = await replying(reply, { dialect });
  try {
    const { ids, completion } = await walk(service, options);
    const end = completion?.kind === 'complete' ? completion.evidence : completion?.kind;
    return { ids: ids.length, end, hint: undefined, requests: server.requests };
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    return { ids: 0, end: message, hint, requests: server.requests };
  }
}

const leads = (from: number, to: number): { id: string }[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: `l${from + i}` }));
const answer = (
  response: ServerResponse,
  headers: Record<string, string>,
  body: unknown,
  status = 200,
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

describe('a missing next', () => {
  it('ends a walk over numbered pages on a service that showed one', async () => {
    const { end, requests } = await endOf(({ query }) => {
      const page = Number(query.get('page') ?? 1);
      return { data: leads(page * 25, page * 25 + 25), ...(page < 3 ? { next_page: page + 1 } : {}) };
    });
    expect(end).toBe('explicit-end');
    expect(requests.filter((request) => request.includes('page=4'))).toEqual([]);
  });

  it('ends a walk where the dialect says that the service shows one', async () => {
    const once = await endOf(() => ({ data: leads(0, 100) }), { nextSeen: true });
    expect([once.ids, once.end, once.requests.length]).toEqual([100, 'explicit-end', 1]);
  });

  it('ends none where the answer counts more pages, or more leads', async () => {
    const pages = await endOf(({ query }) => {
      const page = Number(query.get('page') ?? 1);
      const next = page === 1 ? { next_page: 2 } : {};
      return { data: page > 3 ? [] : leads(page * 25, page * 25 + 25), page, total_pages: 3, ...next };
    });
    expect(pages.ids).toBe(75);
    const total = await endOf(() => ({ data: leads(0, 25), total: 80 }), { nextSeen: true });
    expect(total.end).toContain('80 leads');
  });
});

describe('an answer without a list', () => {
  const nothing: readonly (readonly [string, (response: ServerResponse) => unknown])[] = [
    ['data: null', () => ({ data: null })],
    ['leads in data: null', () => ({ data: { leads: null } })],
    ['{}', () => ({})],
    ['204', (response) => void response.writeHead(204).end()],
  ];

  it.each(nothing)('%s is an end where a list was seen before', async (_, none) => {
    const known = await endOf(({ response }) => none(response), {}, { isKnownList: true });
    expect([known.ids, known.end]).toEqual([0, 'empty']);
  });

  it.each(nothing)('%s is no empty list at first contact', async (_, none) => {
    expect((await endOf(({ response }) => none(response))).end).toContain('holds no list of leads');
  });

  it.each([
    ['beside a total', { _links: { self: { href: '/api/leads' }, search: {} }, page: { totalElements: 0 } }],
    ['with links of pages alone', { _links: { self: { href: '/api/leads' } } }],
  ])('as HAL has it, %s, is an empty list', async (_, body) => {
    expect((await endOf(() => body)).end).toBe('empty');
  });

  it.each([
    { id: '5', email: 'a@b.example', _links: { self: { href: '/api/leads/5' } } },
    { id: '1', _links: {} },
    { _embedded: { owner: { id: 1 } }, _links: { self: { href: '/api/leads' } } },
  ])('a single record in HAL is no empty list: %j', async (body) => {
    expect((await endOf(() => body)).end).toContain('holds no list of leads');
  });

  it('as HAL has it is none where the total says more, or where it is the list of what there is', async () => {
    const total = await endOf(() => ({ _links: { self: { href: '/api/leads' } }, total: 12 }));
    expect(total.end).toContain('12 leads');
    const root = await endOf(() => ({ _links: { self: { href: '/' }, leads: { href: '/v2/leads' } } }));
    expect(root.end).toContain('holds no list of leads');
  });

  it('that names errors in place of data is a failure', async () => {
    const reply = () => ({ data: null, errors: [{ message: 'field leads does not exist' }] });
    expect((await endOf(reply, {}, { isKnownList: true })).end).toMatch(/no array of leads|does not exist/);
  });
});

describe('the headers of an answer', () => {
  it('link to the next page also where another parameter holds a comma or a bracket', async () => {
    const { ids, end } = await endOf(({ query, response }) => {
      const page = Number(query.get('page') ?? 1);
      const next = `</api/leads?page=${page + 1}&q=a,b>; title="leads, <more>; of \\"them\\""; rel="next"`;
      const first = '</api/leads?page=1>; title="a, b"; rel="first"';
      answer(response, { link: page < 3 ? `${first}, ${next}` : first }, leads(page * 20, page * 20 + 20));
    });
    expect([ids, end]).toEqual([60, 'explicit-end']);
  });
});

describe('has_more: true on an empty page', () => {
  const page = ({ query }: Asked): number => Number(query.get('page') ?? 1);

  it('is asked once more, and then said', async () => {
    const { end, requests } = await endOf((request) => {
      const number = page(request);
      return { data: number < 3 ? leads(number * 9, number * 9 + 9) : [], page: number, has_more: true };
    });
    expect(end).toContain('says that there is more, and sends no further lead');
    expect(requests.filter((request) => request.includes('page=3'))).toHaveLength(2);
  });

  it('is no end where the page is filled a moment later', async () => {
    const { ids, end } = await endOf((request) => {
      const [number, { nth }] = [page(request), request];
      const data = number === 2 && nth === 1 ? [] : leads(number * 9, number * 9 + 9);
      return { data, page: number, has_more: number < 3 };
    });
    expect([ids, end]).toEqual([27, 'explicit-end']);
  });
});

describe('a next page that is named on every page, for ever', () => {
  const number = (query: URLSearchParams, name: string, first: number): number =>
    Number(query.get(name) ?? first);
  const pageOf = (query: URLSearchParams): { id: string }[] =>
    leads(number(query, 'page', 1) * 25 - 25, Math.min(number(query, 'page', 1) * 25, 60));
  const next = (query: URLSearchParams): string => `/api/leads?page=${number(query, 'page', 1) + 1}`;
  const partsOf = (query: URLSearchParams): { id: string }[] =>
    leads(number(query, 'offset', 0), Math.min(number(query, 'offset', 0) + 25, 60));

  it.each<[string, (request: Asked) => unknown]>([
    ['a URL of the body', ({ query }) => ({ data: pageOf(query), links: { next: next(query) } })],
    ['a number', ({ query }) => ({ data: pageOf(query), next_page: number(query, 'page', 1) + 1 })],
    ['an offset', ({ query }) => ({ data: partsOf(query), next_offset: number(query, 'offset', 0) + 25 })],
  ])('by %s, is no more asked for behind a few empty ones', async (_, reply) => {
    const { ids, end, requests } = await endOf(reply);
    expect([ids, end]).toEqual([60, 'nothing-behind']);
    expect(requests.length).toBeLessThan(15);
  });

  it('by a number that is no plain count, ends within the bound of a walk', async () => {
    const { end, requests } = await endOf(({ query }) => {
      const offset = number(query, 'offset', 0);
      return { data: offset > 0 ? [] : leads(0, 20), next: `/api/leads?offset=${offset + 25}` };
    });
    expect(end).toBe('nothing-behind');
    expect(requests.length).toBeLessThanOrEqual(53);
  });

  it('by a cursor that differs each time, ends unproven with what there is', async () => {
    const reply = ({ query, nth }: Asked): unknown => ({
      data: query.has('cursor') ? [] : leads(0, 25),
      next_cursor: `c${nth}`,
    });
    const { end, hint } = await endOf(reply);
    expect(end).toContain('one empty page after another');
    expect(hint).toContain('--accept-incomplete');
    const taken = await endOf(reply, {}, { acceptUnproven: () => undefined });
    expect([taken.ids, taken.end]).toEqual([25, 'unproven']);
  });
});

describe('an exact total of one page', () => {
  it.each([10, 12, 25])('of %i leads is an end, in whatever order they come again', async (count) => {
    const { ids, end, requests } = await endOf(({ query, nth }) => {
      const offset = Number(query.get('offset') ?? 0);
      const turned = [...leads(nth % count, count), ...leads(0, nth % count)];
      return { data: turned.slice(offset, offset + Math.min(Number(query.get('limit')), 25)), total: count };
    });
    expect(ids).toBe(count);
    expect(['total', 'nothing-behind', 'not-paged']).toContain(end);
    expect(requests.length).toBeLessThanOrEqual(4);
  });
});

describe('a total that counts more than the service lists', () => {
  const reply = () => ({ data: leads(0, 12), total: 15, next: null });

  it('is named with the key that says so', async () => {
    expect(await endOf(reply)).toMatchObject({
      end: expect.stringContaining('15 leads') as string,
      hint: expect.stringContaining('api.total estimate') as string,
    });
  });

  it('is no objection with that key', async () => {
    expect(await endOf(reply, { total: 'estimate' })).toMatchObject({ ids: 12, end: 'explicit-end' });
  });
});
