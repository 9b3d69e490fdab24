import { caution, everything, type Page, plainArray, type Row, speaksAgainst } from '../row.ts';
import { byCursor, byOffset, byPage, cursorOf } from '../ways.ts';

const last = ({ leads }: Page) => leads.at(-1);
const cursor = (page: Page): string => cursorOf(last(page));

/** The first leads, and in the answer a member that says so. No parameter leads to the others. */
const tells = (name: string, cap: number, members: (page: Page) => object, shape: Partial<Row> = {}): Row =>
  caution(name, { isVariant: true, ...shape, cap }, (page) => ({
    data: page.leads,
    ...(page.isLast ? {} : members(page)),
  }));
/** The same, in a header. */
const tellsByHeader = (name: string, headers: (page: Page) => Record<string, string>, status = 200): Row =>
  tells(name, 33, () => ({}), {
    headers: (page): Record<string, string> => (page.isLast ? {} : headers(page)),
    status: ({ isLast }) => (isLast ? 200 : status),
  });

const linked = (first: string, last: string): Record<string, string> => ({
  link: `<${first}>; rel="first", <${last}>; rel="last"`,
});
const firstAndLast = (page: Page): Record<string, string> =>
  linked(page.link({}), page.link({ cursor: 'last' }));

/** Services whose answer says in its own words that there is more, or that it is not whole. */
export const unreadRows: readonly Row[] = [
  tells('offset: an opaque text', 33, (page) => ({ offset: `itr${cursor(page)}` }), { isVariant: false }),
  tells('continuation: a token', 33, (page) => ({ continuation: cursor(page) })),
  tells('_scroll_id: a token', 70, (page) => ({ _scroll_id: cursor(page) })),
  tells('resumptionToken, nested', 33, (page) => ({ resume: { resumptionToken: cursor(page) } })),
  tells('moreAvailable: true', 33, () => ({ moreAvailable: true }), { isVariant: false }),
  tells('remaining: a number', 33, ({ total, end }) => ({ remaining: total - end })),
  tells('partial: true', 33, () => ({ partial: true }), { isVariant: false }),
  tells('warnings beside data', 33, () => ({ warnings: ['cut at 33'] })),
  tells('total, larger', 33, ({ total }) => ({ total }), { isVariant: false }),
  tellsByHeader('x-ms-continuationtoken', (page) => ({ 'x-ms-continuationtoken': cursor(page) })),
  tellsByHeader('X-Has-More', () => ({ 'x-has-more': 'true' })),
  tellsByHeader('X-WP-Total, larger', ({ total, pages }) => ({
    ...{ 'x-wp-total': String(total), 'x-wp-totalpages': String(pages) },
  })),
  tellsByHeader('X-Total-Pages, more than one', ({ pages }) => ({ 'x-total-pages': String(pages) })),
  tellsByHeader(
    '206 and a range with a total',
    ({ end, total }) => ({ 'content-range': `items 0-${end - 1}/${total}` }),
    206,
  ),
  speaksAgainst('a redirect that drops the page', {
    ...{ cap: 25, size: ['limit'] },
    answer: ({ url, list }) =>
      url.pathname.endsWith('/')
        ? { body: { leads: list.slice(0, 25), page: 1 } }
        : { status: 301, headers: { location: '/api/leads/' } },
  }),
  speaksAgainst(
    'a page in the middle fails in part',
    { cap: 30, way: byPage() },
    ({ leads, number, pages }) =>
      number === 2
        ? { leads: leads.slice(0, 20), page: number, pages, partial: true }
        : { leads, page: number, pages },
  ),
  speaksAgainst(
    'incomplete_results on a later page',
    { cap: 30, way: byPage() },
    ({ leads, number, total }) =>
      number === 3
        ? { total_count: total - 10, incomplete_results: true, items: leads.slice(0, 20) }
        : { total_count: total, incomplete_results: false, items: leads },
  ),
  speaksAgainst('a cursor that is named and not honoured', { cap: 30 }, (page) => ({
    leads: page.leads,
    next_cursor: page.isLast ? null : cursor(page),
  })),
  caution('offset: an opaque text, honoured', { cap: 100, way: byCursor('offset') }, (page) => ({
    records: page.leads,
    ...(page.isLast ? {} : { offset: cursor(page) }),
  })),
  everything(
    'Link with first and last, beside has_more and next_cursor',
    { ...{ cap: 30, way: byCursor() }, headers: firstAndLast },
    (page) => ({ data: page.leads, has_more: !page.isLast, next_cursor: page.isLast ? null : cursor(page) }),
  ),
  everything(
    'Link with first and last, beside an address next',
    { ...{ cap: 30, way: byCursor() }, headers: firstAndLast },
    (page) => ({
      results: page.leads,
      next: page.isLast ? null : page.link({ cursor: cursor(page) }),
    }),
  ),
  everything(
    'Link with first and last alone',
    { cap: 30, way: byPage(), headers: (page) => linked(page.link({}), page.link({ page: page.pages })) },
    plainArray,
  ),
  tellsByHeader('Link with a last page, which no number leads to', (page) =>
    linked('/api/leads?page=1', `/api/leads?page=${page.pages}`),
  ),
  ...['last', 'done'].map((name) =>
    everything(`${name}: true, beside an address next_page`, { cap: 30, way: byCursor() }, (page) => ({
      data: page.leads,
      [name]: true,
      next_page: page.isLast ? null : page.link({ cursor: cursor(page) }),
    })),
  ),
  ...[{ 'api.next': '/meta/next' }, { 'api.pagination': 'cursor' }, { 'api.pagination': 'link' }].map(
    (settings) =>
      speaksAgainst(`nothing is found of what is set: ${Object.entries(settings).join()}`, {
        cap: 37,
        settings,
      }),
  ),
  everything(
    'offset and limit, with 206 and a range',
    {
      ...{ cap: 30, size: ['limit'], way: byOffset() },
      status: ({ isLast, start }) => (isLast && start === 0 ? 200 : 206),
      headers: ({ start, end, total }) => ({
        'content-range': `items ${end > start ? `${start}-${end - 1}` : '*'}/${total}`,
      }),
    },
    plainArray,
  ),
];
