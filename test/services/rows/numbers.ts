import { caution, everything, leadNumber, plainArray, type Row, speaksAgainst } from '../row.ts';
import { byOffset, byPage } from '../ways.ts';

const behinds = ['empty', 'last page', 'first page', 204, 400, 404] as const;
const numberIn = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);

/** Services that are read by numbers: of pages, or of leads to skip. */
export const numberRows: readonly Row[] = [
  ...behinds.map((behind) => {
    // A first page behind the end may be a number that is not honoured; a full page in front of a 400, a limit.
    const make = behind === 'first page' ? speaksAgainst : behind === 400 ? caution : everything;
    return make(`page, behind the end: ${behind}`, {
      ...{ cap: 25, way: byPage(), behind },
      quietAt: behind === 'last page' ? [25, 50, 100] : behind === 404 ? [25] : [],
    });
  }),
  ...behinds.map((behind) => {
    const make = behind === 'first page' || behind === 'last page' ? speaksAgainst : everything;
    return make(`offset, behind the end: ${behind}`, {
      ...{ cap: 40, size: ['limit'], way: byOffset(), behind },
      quietAt: behind === 400 || behind === 404 ? [40] : [],
    });
  }),
  ...[15, 16, 60, 64, 120].map((cap) => everything(`page, ${cap} a page`, { cap, way: byPage() })),
  everything('page from 0', { cap: 25, way: byPage('page', 0) }),
  everything(
    'page from 0, limit',
    { usual: 20, cap: 100, size: ['limit'], way: byPage('page', 0) },
    plainArray,
  ),
  everything(
    'page and per_page, pages',
    { usual: 20, cap: 100, size: ['per_page'], way: byPage() },
    (page) => ({
      ...{ leads: page.leads, page: page.number, pages: page.pages },
    }),
  ),
  everything('page and limit, total', { usual: 20, cap: 50, size: ['limit'], way: byPage() }, (page) => ({
    data: page.leads,
    meta: { page: page.number, total: page.total },
  })),
  everything(
    'page, limit rejected above 50',
    { usual: 10, cap: 50, size: ['limit'], tooLarge: 400, way: byPage() },
    ({ leads, number }) => ({ leads, page: number }),
  ),
  everything('page, unknown parameters rejected', {
    ...{ usual: 20, cap: 100, size: ['limit'], tooLarge: 422, isStrict: true, way: byPage() },
  }),
  everything('offset, unknown parameters rejected', {
    ...{ usual: 20, cap: 100, size: ['limit'], isStrict: true, way: byOffset() },
  }),
  everything(
    'skip and take, total',
    { cap: 30, usual: 10, size: ['take'], way: byOffset('skip') },
    (page) => ({
      ...{ items: page.leads, total: page.total, skip: page.start },
    }),
  ),
  everything('page, hasMore', { cap: 30, way: byPage() }, ({ leads, isLast }) => ({
    leads,
    hasMore: !isLast,
  })),
  everything('offset, hasMore', { cap: 30, way: byOffset() }, ({ leads, isLast }) => ({
    leads,
    hasMore: !isLast,
  })),
  caution('start and count', { cap: 40, size: ['count'], way: byOffset('start') }),
  caution('p', { cap: 24, way: byPage('p') }),
  caution('pageNumber and pageSize', { cap: 50, size: ['pageSize'], way: byPage('pageNumber') }),
  caution('page[number] and page[size]', {
    ...{ cap: 50, usual: 10, size: ['page[size]'], way: byPage('page[number]') },
  }),
  everything(
    'X-Page and X-Total-Pages',
    {
      ...{ cap: 25, way: byPage() },
      headers: ({ number, pages }) => ({ 'x-page': String(number), 'x-total-pages': String(pages) }),
    },
    plainArray,
  ),
  everything(
    'WordPress',
    {
      ...{ usual: 10, cap: 100, size: ['per_page'], tooLarge: 400, behind: 400, way: byPage() },
      headers: ({ total, pages }) => ({ 'x-wp-total': String(total), 'x-wp-totalpages': String(pages) }),
    },
    plainArray,
  ),
  speaksAgainst(
    'a total that is too large by 7',
    { cap: 25, way: byOffset() },
    ({ leads, total, start }) => ({
      ...{ leads, total: total + 7, offset: start },
    }),
  ),
  everything('total is the length of the page', { cap: 25, way: byPage() }, ({ leads }) => ({
    ...{ leads, total: leads.length },
  })),
  everything('data: null behind the end', { cap: 25, way: byPage() }, ({ leads }) => ({
    data: leads.length > 0 ? leads : null,
  })),
  everything('{} behind the end', { cap: 25, way: byPage() }, ({ leads }) =>
    leads.length > 0 ? { data: leads } : {},
  ),
  everything('page and has_more', { cap: 25, way: byPage() }, ({ leads, isLast }) => ({
    ...{ data: leads, has_more: !isLast },
  })),
  everything('offset and is_last_page', { cap: 40, way: byOffset() }, ({ leads, isLast }) => ({
    ...{ leads, is_last_page: isLast },
  })),
  speaksAgainst('has_more: true always', { cap: 25, way: byPage() }, ({ leads }) => ({
    ...{ data: leads, has_more: true },
  })),
  caution(
    'has_more: false always',
    { cap: 25, way: byPage(), invisible: 'it says that there is no more' },
    ({ leads }) => ({ data: leads, has_more: false }),
  ),
  everything('pages of 28 that are 25 apart', {
    cap: 28,
    answer({ query, list }) {
      const number = numberIn(query, 'page', 1);
      return { body: { leads: list.slice((number - 1) * 25, number * 25 + 3), page: number } };
    },
  }),
  everything('28 leads from an offset, next_offset 25 further', {
    cap: 28,
    answer({ query, list }) {
      const offset = numberIn(query, 'offset', 0);
      const next_offset = offset + 25 < list.length ? offset + 25 : null;
      return { body: { leads: list.slice(offset, offset + 28), offset, next_offset } };
    },
  }),
  everything('an offset that counts hidden leads', {
    cap: 25,
    answer({ query, list }) {
      const offset = numberIn(query, 'offset', 0);
      const places = list.flatMap((lead, i) => (i % 5 === 4 ? [lead, undefined] : [lead]));
      const leads = places.slice(offset, offset + 25).filter((lead) => lead !== undefined);
      return { body: { leads, offset, has_more: offset + 25 < places.length } };
    },
  }),
  caution('pinned leads in front of every page', {
    ...{ cap: 27, quietAt: [3, 4] },
    answer({ query, list }) {
      const number = numberIn(query, 'page', 1);
      const pinnedIds = [leadNumber(0).id, leadNumber(1).id];
      const pinned = list.filter(({ id }) => pinnedIds.includes(id));
      const others = list.filter(({ id }) => !pinnedIds.includes(id));
      return { body: { leads: [...pinned, ...others.slice((number - 1) * 25, number * 25)], page: number } };
    },
  }),
];
