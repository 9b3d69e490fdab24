import { caution, everything, type Page, plainArray, type Row, speaksAgainst } from '../row.ts';

/** Cuts its answer at so many leads, and shows no way to the others. */
const cutAt = (cap: number, how: string, shape: Partial<Row> = {}, body?: (page: Page) => unknown): Row =>
  caution(`cut at ${cap}, ${how}`, { ...shape, cap }, body);
const all = (how: string, shape: Partial<Row> = {}, body?: (page: Page) => unknown): Row =>
  caution(`all, ${how}`, shape, body);
const allAndSaid = (how: string, shape: Partial<Row>, body?: (page: Page) => unknown): Row =>
  everything(`all, ${how}`, shape, body);

const errorOf = (status: number) => ({ status, body: { error: 'invalid_request', message: 'no' } });
const numberOf = (query: URLSearchParams): number => Number(query.get('page') ?? 1);

/** Services that answer with the same page, whatever is asked: with all leads, or with the first ones. */
export const loneRows: readonly Row[] = [
  ...[15, 16, 30, 40, 60, 64, 75, 120, 128, 150, 200, 237].map((cap) =>
    cutAt(cap, 'nothing said', { isVariant: ![15, 60, 150, 237].includes(cap) }),
  ),
  cutAt(20, 'a plain array', {}, plainArray),
  cutAt(50, 'a plain array, oldest first', { order: 'oldest first' }, plainArray),
  cutAt(60, 'count is the length of the page', {}, ({ leads }) => ({ leads, count: leads.length })),
  cutAt(
    100,
    'total is the length of the page',
    { invisible: 'a total that equals what came is what it is called, but this one is not' },
    ({ leads }) => ({ leads, total: leads.length }),
  ),
  cutAt(60, 'in no order', { order: 'none' }),
  cutAt(60, 'in no order, filters by status', { order: 'none', filters: ['status'] }),
  cutAt(100, 'limit honoured below', { size: ['limit'] }),
  cutAt(45, 'limit honoured below', {
    size: ['limit'],
    invisible: 'more was asked for than came, limit=1 is honoured, and 45 is no usual cap',
  }),
  cutAt(1000, '25 unless limit says more', { usual: 25, size: ['limit'] }),
  cutAt(50, 'limit honoured, 400 above', { usual: 20, size: ['limit'], tooLarge: 400 }),
  cutAt(60, 'filters by status', { filters: ['status'] }),
  cutAt(75, 'filters by category', { filters: ['category'] }),
  cutAt(45, 'filters by status and category', { filters: ['status', 'category'] }),
  cutAt(110, 'filters by status', { filters: ['status'] }),
  cutAt(80, '400 for every parameter', { isStrict: true }),
  cutAt(40, 'knows status, 400 for the rest', { isStrict: true, filters: ['status'] }),
  cutAt(64, '404 for every parameter', {
    quietAt: [1, 4],
    answer: ({ url }) => (url.search === '' ? undefined : errorOf(404)),
  }),
  cutAt(30, '500 for a second page', {
    answer: ({ query }) => (query.has('page') || query.has('offset') ? errorOf(500) : undefined),
  }),
  cutAt(90, 'and filtered by status afterwards', {
    invisible: 'a filter over the first 90 leads alone shows nothing of the others, and 90 is no usual cap',
    answer: ({ query, list }) => {
      const wanted = query.get('status');
      return { body: list.slice(0, 90).filter(({ status }) => (wanted ?? status) === status) };
    },
  }),

  speaksAgainst('nothing but {}', { cap: 20 }, () => ({})),
  speaksAgainst('nothing but data: null', { cap: 20 }, () => ({ data: null })),
  speaksAgainst('nothing but 204', { cap: 20, answer: () => ({ status: 204 }) }),

  all('a plain array', {}, plainArray),
  all('in no order', { order: 'none' }),
  all('an envelope', { isVariant: true }),
  all('their count', { isVariant: true }, ({ leads }) => ({ leads, count: leads.length })),
  all('ok: true and a time', { isVariant: true }, ({ leads }) => ({
    ok: true,
    data: leads,
    generatedAt: '2025-04-01T00:00:00Z',
  })),
  all('400 for every parameter', { isStrict: true }),
  all('oldest first', { order: 'oldest first' }),
  all('limit honoured', { size: ['limit'] }, plainArray),
  allAndSaid('filters by status', { filters: ['status'] }, plainArray),
  allAndSaid('filters by category', { filters: ['category'] }),
  allAndSaid('filters, 400 for the rest', { isStrict: true, filters: ['status', 'category'] }),
  allAndSaid('total', {}, ({ leads, total }) => ({ leads, total })),
  allAndSaid('X-Total-Count', { headers: ({ total }) => ({ 'x-total-count': String(total) }) }, plainArray),
  allAndSaid('page 1 of 1', {}, ({ leads }) => ({ data: leads, page: 1, pages: 1 })),
  allAndSaid('a delta link', {}, ({ leads }) => ({ value: leads, '@odata.deltaLink': '/api/leads?since=t' })),
  allAndSaid('has_more: false', {}, ({ leads }) => ({ data: leads, has_more: false })),
  allAndSaid('next: null', {}, ({ leads }) => ({ results: leads, next: null })),
  allAndSaid('404 for a second page', {
    quietAt: [20],
    answer: ({ query }) => (numberOf(query) > 1 ? errorOf(404) : undefined),
  }),
  allAndSaid('a second page is empty', {
    answer: ({ query }) => (numberOf(query) > 1 ? { body: { leads: [] } } : undefined),
  }),
  allAndSaid('partial: false, errors: [], timed_out: false', {}, ({ leads, total }) => ({
    ...{ partial: false, errors: [], timed_out: false, total, leads },
  })),
];
