import { caution, everything, type Page, plainArray, type Row } from '../row.ts';
import { behindId, byCursor, byPage, cursorOf, untilTime } from '../ways.ts';

const cursor = ({ leads }: Page): string => cursorOf(leads.at(-1));
const behind = (page: Page): string => page.link({ cursor: cursor(page) });
/** Where more follows; nothing where not. */
const more = ({ isLast }: Page, members: Record<string, string>): Record<string, string> =>
  isLast ? {} : members;

/** Services that are read by cursors, by ids and by times. */
export const cursorRows: readonly Row[] = [
  everything(
    'next_cursor, null at the end',
    { cap: 50, usual: 20, size: ['limit'], way: byCursor() },
    (page) => ({
      data: page.leads,
      next_cursor: page.isLast ? null : cursor(page),
    }),
  ),
  everything(
    'next_cursor, missing at the end',
    { cap: 50, usual: 20, size: ['limit'], way: byCursor() },
    (page) => ({
      data: page.leads,
      ...more(page, { next_cursor: cursor(page) }),
    }),
  ),
  everything(
    'nextPageToken',
    { quietAt: [25], cap: 100, usual: 25, size: ['maxResults'], way: byCursor('pageToken') },
    (page) => ({
      items: page.leads,
      ...more(page, { nextPageToken: cursor(page) }),
    }),
  ),
  everything('next_cursor, and a page that is empty when it is first asked for', {
    cap: 30,
    answer: emptyAtFirst(),
  }),
  everything('next: an address, null at the end', { cap: 40, way: byCursor() }, (page) => ({
    results: page.leads,
    next: page.isLast ? null : behind(page),
  })),
  everything('next: an address, missing at the end', { quietAt: [40], cap: 40, way: byCursor() }, (page) => ({
    results: page.leads,
    links: { self: page.link({}), ...more(page, { next: behind(page) }) },
  })),
  everything(
    'Link, by page',
    {
      ...{ cap: 30, size: ['per_page'], way: byPage() },
      headers: (page) => more(page, { link: `<${page.link({ page: page.number + 1 })}>; rel="next"` }),
    },
    plainArray,
  ),
  everything(
    'Link with a quoted comma',
    {
      ...{ quietAt: [30], cap: 30, way: byCursor() },
      headers: (page) =>
        more(page, {
          link: `<${page.link({})}>; rel="first"; title="first, of all", <${behind(page)}>; title="more, older"; rel=next`,
        }),
    },
    plainArray,
  ),
  everything(
    'X-Next-Cursor',
    {
      quietAt: [30],
      cap: 30,
      way: byCursor(),
      headers: (page) => more(page, { 'x-next-cursor': cursor(page) }),
    },
    plainArray,
  ),
  caution('x-ms-continuationtoken, honoured', {
    ...{ cap: 33, way: byCursor('continuationToken') },
    headers: (page) => more(page, { 'x-ms-continuationtoken': cursor(page) }),
  }),
  everything('an object as a token', {
    cap: 30,
    answer({ query, list }) {
      const at = list.findIndex(({ id }) => id === query.get('lastId')) + 1;
      const data = list.slice(at, at + 30);
      const token = { lastId: data.at(-1)?.id, lastTime: data.at(-1)?.createdAt };
      return { body: { data, next: at + 30 < list.length ? token : null } };
    },
  }),
  everything(
    'has_more and starting_after',
    { cap: 100, usual: 10, size: ['limit'], isStrict: true, way: behindId('starting_after') },
    ({ leads, isLast }) => ({ object: 'list', data: leads, has_more: !isLast }),
  ),
  everything('before an id', { cap: 50, size: ['limit'], way: behindId('before') }, plainArray),
  everything('before an id, 30 at once', { cap: 30, way: behindId('before') }),
  everything('before_id', { cap: 30, way: behindId('before_id') }),
  everything('after an id', { cap: 25, way: behindId('after') }),
  everything('until a time, five leads of each', {
    cap: 60,
    answer({ query, list }) {
      const dated = list.map((lead, i) => ({
        ...lead,
        createdAt: list[i - (i % 5)]?.createdAt ?? lead.createdAt,
      }));
      const until = query.get('until') ?? '9999';
      return { body: dated.filter(({ createdAt }) => createdAt <= until).slice(0, 60) };
    },
  }),
  everything('until a time, limit', { cap: 100, usual: 50, size: ['limit'], way: untilTime('until', false) }),
  everything('created_before a time', { cap: 75, way: untilTime('created_before', false) }),
  caution('until a time, all of one time', {
    cap: 30,
    answer({ query, list }) {
      const createdAt = '2025-03-01T00:00:00Z';
      const isThere = (query.get('until') ?? '9999') >= createdAt;
      return { body: isThere ? list.slice(0, 30).map((lead) => ({ ...lead, createdAt })) : [] };
    },
  }),
];

function emptyAtFirst(): NonNullable<Row['answer']> {
  const asked = new Map<string, number>();
  return ({ url, query, list }) => {
    const cursor = query.get('cursor');
    const times = (asked.get(url.href) ?? 0) + 1;
    asked.set(url.href, times);
    if (cursor !== null && times % 2 === 1)
      return { body: { data: [], has_more: true, next_cursor: cursor } };
    const at = list.findIndex((lead) => cursorOf(lead) === cursor) + 1;
    const data = list.slice(at, at + 30);
    const isLast = at + 30 >= list.length;
    return { body: { data, has_more: !isLast, next_cursor: isLast ? null : cursorOf(data.at(-1)) } };
  };
}
