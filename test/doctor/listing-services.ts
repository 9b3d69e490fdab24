/** Ways to list leads, each as a function of the leads that the service holds. */
export interface Lead {
  readonly id: string;
  readonly category: string;
  readonly createdAt: string;
}

interface Answer {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ListingService {
  readonly name: string;
  /** Nothing in its answers proves that one page is all: only a person can say so. */
  readonly isLone?: true;
  readonly answer: (leads: readonly Lead[], query: URLSearchParams, url: URL) => Answer;
}

export const leadsOf = (count: number): Lead[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `lead_${String(i).padStart(4, '0')}`,
    category: ['solar', 'roofing'][i % 2] ?? '',
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
  }));

const numberIn = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
const newestFirst = (leads: readonly Lead[]): Lead[] => leads.toReversed();
const withQuery = (url: URL, changes: Readonly<Record<string, string | number>>): string => {
  const target = new URL(url);
  for (const [name, value] of Object.entries(changes)) target.searchParams.set(name, String(value));
  return target.href;
};
const ofCategory = (leads: readonly Lead[], query: URLSearchParams): readonly Lead[] => {
  const wanted = query.get('category');
  return wanted === null ? leads : leads.filter(({ category }) => category === wanted);
};
const dayOf = (time: string | null): number => Date.parse(`${(time ?? '').slice(0, 10)}T00:00:00Z`);

/** The page of a list that `query` asks for. */
interface Paging {
  readonly page?: string;
  readonly offset?: string;
  readonly limit?: string;
  /** The number of the first page. */
  readonly base?: 0 | 1;
  readonly usual?: number;
  readonly cap?: number;
}

function pageOf(leads: readonly Lead[], query: URLSearchParams, paging: Paging) {
  const { page, offset, limit, base = 1, usual = 20, cap = 100 } = paging;
  const size = limit === undefined ? usual : Math.min(cap, numberIn(query, limit, usual));
  const number = page === undefined ? 0 : numberIn(query, page, base) - base;
  const start = offset === undefined ? number * size : numberIn(query, offset, 0);
  const data = start < 0 ? [] : leads.slice(start, start + size);
  return { data, start, size, number: number + base, isMore: start + data.length < leads.length };
}

export const listingServices: readonly ListingService[] = [
  {
    name: 'pages from 1, oldest first',
    answer: (leads, query) => ({
      body: { data: pageOf(leads, query, { page: 'page', limit: 'limit' }).data },
    }),
  },
  {
    name: 'pages from 0, newest first',
    answer: (leads, query) => ({
      body: { data: pageOf(newestFirst(leads), query, { page: 'page', limit: 'size', base: 0 }).data },
    }),
  },
  {
    name: 'pages from 0 of a fixed size, a bare array',
    answer: (leads, query) => ({ body: pageOf(leads, query, { page: 'p', base: 0, usual: 10 }).data }),
  },
  {
    name: 'pages from 1 of a fixed size, with totals',
    answer: (leads, query) => {
      const { data, number } = pageOf(leads, query, { page: 'page', usual: 25 });
      return { body: { data, page: number, total: leads.length } };
    },
  },
  {
    name: 'pages from 1, the last one again behind the end',
    isLone: true,
    answer: (leads, query) => {
      const last = Math.ceil(leads.length / 30);
      const number = Math.min(last, numberIn(query, 'page', 1));
      return { body: { data: leads.slice((number - 1) * 30, number * 30) } };
    },
  },
  {
    name: 'offset, capped at 36, under names that need a look at three leads',
    answer: (leads, query) => ({
      body: pageOf(leads, query, { offset: 'start', limit: 'count', cap: 36 }).data,
    }),
  },
  {
    name: 'offset, capped at 50',
    answer: (leads, query) => ({
      body: { results: pageOf(leads, query, { offset: 'skip', limit: 'take', cap: 50 }).data },
    }),
  },
  {
    name: 'offset with its total in a header, newest first',
    answer: (leads, query) => ({
      headers: { 'x-total-count': String(leads.length) },
      body: pageOf(newestFirst(leads), query, { offset: 'offset', limit: 'limit', usual: 15 }).data,
    }),
  },
  {
    name: 'cursor, null at the end',
    answer: (leads, query) => {
      const start = Number((query.get('cursor') ?? 'c0').slice(1));
      const { data, isMore } = pageOf(
        leads,
        new URLSearchParams({ ...Object.fromEntries(query), at: String(start) }),
        {
          offset: 'at',
          limit: 'limit',
        },
      );
      return { body: { data, next_cursor: isMore ? `c${start + data.length}` : null } };
    },
  },
  {
    name: 'cursor, absent at the end',
    answer: (leads, query) => {
      const start = Number((query.get('page_token') ?? 't0').slice(1));
      const size = Math.min(50, numberIn(query, 'page_size', 20));
      const items = newestFirst(leads).slice(start, start + size);
      const isMore = start + size < leads.length;
      return { body: { items, ...(isMore ? { next_page_token: `t${start + size}` } : {}) } };
    },
  },
  {
    name: 'Link header, without one at a list of one page',
    answer: (leads, query, url) => {
      const { data, number, isMore } = pageOf(leads, query, { page: 'page', limit: 'per_page' });
      const link = isMore ? { link: `<${withQuery(url, { page: number + 1 })}>; rel="next"` } : {};
      return { headers: link, body: data };
    },
  },
  {
    name: 'next URL in the body, absent at the end',
    answer: (leads, query, url) => {
      const { data, start, size, isMore } = pageOf(leads, query, {
        offset: 'offset',
        limit: 'limit',
        cap: 20,
      });
      return { body: { data, paging: isMore ? { next: withQuery(url, { offset: start + size }) } : {} } };
    },
  },
  {
    name: 'has_more and the last id',
    answer: (leads, query) => {
      const start = leads.findIndex(({ id }) => id === query.get('starting_after')) + 1;
      const data = leads.slice(start, start + Math.min(100, numberIn(query, 'limit', 10)));
      return { body: { data, has_more: start + data.length < leads.length } };
    },
  },
  {
    name: 'has_more and page numbers',
    answer: (leads, query) => {
      const { data, isMore } = pageOf(leads, query, { page: 'page', limit: 'limit', cap: 20 });
      return { body: { data, has_more: isMore } };
    },
  },
  { name: 'all at once, a bare array', isLone: true, answer: (leads) => ({ body: leads }) },
  { name: 'all at once, beside their count', answer: (leads) => ({ body: { leads, total: leads.length } }) },
  {
    name: 'all at once, with a filter by category',
    isLone: true,
    answer: (leads, query) => ({ body: { data: ofCategory(leads, query) } }),
  },
  {
    name: 'all at once, with a limit',
    isLone: true,
    answer: (leads, query) => ({ body: { data: leads.slice(0, numberIn(query, 'limit', leads.length)) } }),
  },
  {
    name: 'the newest 100 alone',
    isLone: true,
    answer: (leads) => ({ body: { data: newestFirst(leads).slice(0, 100) } }),
  },
  {
    isLone: true,
    name: 'the newest 100 alone, with a filter by category before the cut',
    answer: (leads, query) => ({ body: { data: ofCategory(newestFirst(leads), query).slice(0, 100) } }),
  },
  {
    name: 'the newest 137 alone',
    isLone: true,
    answer: (leads) => ({ body: { data: newestFirst(leads).slice(0, 137) } }),
  },
  {
    name: 'a date filter that also brings archived leads',
    isLone: true,
    answer: (leads, query) => {
      const since = query.get('since');
      const found = leads.filter(({ createdAt }) => !(Date.parse(createdAt) < Date.parse(since ?? '')));
      return { body: { data: since === null ? newestFirst(leads).slice(0, 40) : newestFirst(found) } };
    },
  },
  {
    name: 'a date filter that is ignored',
    answer: (leads, query) => {
      const { data, number } = pageOf(newestFirst(leads), query, { page: 'page', limit: 'limit' });
      return {
        body: { data, page: number, total_pages: Math.ceil(leads.length / numberIn(query, 'limit', 20)) },
      };
    },
  },
  {
    name: 'a date filter widened to whole days',
    answer: (leads, query) => {
      const [since, until] = [dayOf(query.get('from')), dayOf(query.get('to'))];
      const found = leads.filter(({ createdAt }) => {
        const time = Date.parse(createdAt);
        return !(time < since) && !(time >= until + 86_400_000);
      });
      return { body: { data: pageOf(found, query, { offset: 'offset', limit: 'limit' }).data } };
    },
  },
  {
    name: 'a date filter by the day of the update, a field that no lead shows',
    answer: (leads, query) => {
      const since = Date.parse(query.get('since') ?? '');
      const found = leads.filter(
        ({ createdAt }, i) => !(Date.parse(createdAt) + (i % 7 === 3 ? 3e9 : 0) < since),
      );
      return { body: { data: pageOf(found, query, { offset: 'offset', limit: 'limit' }).data } };
    },
  },
];
