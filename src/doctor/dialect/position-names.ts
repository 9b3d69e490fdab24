import {
  hintsOf,
  type NextPage,
  readNextPage,
  nullNextFrom,
} from '../../service/pagination/read-next-page.ts';
import type { PaginationHints } from '../../service/pagination/pagination-hints.ts';
import type { RequestParams } from '../../service/pagination/request-params.ts';
import type { DialectAsker, Query, TwoPages } from './limited-requests.ts';
import type { FoundLimit } from './find-limit.ts';
import { narrowNames, type Shown } from './find-honoured-name.ts';
import { cursorParams, idParams, numberParams } from '../../service/pagination/service-names.ts';
import { keysOf, type Seen, type SeenPage } from './seen-page.ts';

/** Names that are tried one by one where a service does not ignore what it does not know. */
const mostAlone = 3;

const unique = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.filter((name) => name !== undefined)),
];

/** The name that takes a page number, if any does. */
export function findPageName(
  search: PositionSearch,
  hinted: string | undefined,
): Promise<string | undefined> {
  const { asker, front, found, query, size } = search;
  const names = unique([
    hinted,
    asker.params.page,
    ...related(found.limit, 'page'),
    ...numberParams.page.usual,
  ]);
  if (found.reaction !== 'ignores') return alone(search, names, () => '2');
  if (found.limit.kind !== 'honoured') {
    return narrowed(search, names, ['2'], query, (seen) =>
      isBehind(front, front.length, keysOf(seen)) ? '2' : undefined,
    );
  }
  // A page of one lead: number 4 holds the fourth lead, or the fifth where pages count from 0.
  const values = Array.from({ length: Math.floor((front.length - 1) / 2) }, (_, i) => String(2 * i + 2));
  if (values.length === 0 || size === undefined) return alone(search, names, () => '2');
  return narrowed(search, names, values, single(search), (seen) => {
    const at = front.indexOf(keysOf(seen)[0] ?? '');
    return at < 1 ? undefined : String(at % 2 === 0 ? at : at + 1);
  });
}

/** The name that takes a number of leads to skip. */
export function findOffsetName(
  search: PositionSearch,
  hinted: string | undefined,
): Promise<string | undefined> {
  const { asker, front, found } = search;
  const names = unique([
    hinted,
    asker.params.offset,
    ...related(found.limit, 'offset'),
    ...numberParams.offset.usual,
  ]);
  if (found.reaction !== 'ignores') return alone(search, names, () => String(search.page.count));
  const values = Array.from({ length: Math.min(front.length - 1, names.length) }, (_, i) => String(i + 1));
  if (values.length === 0) return Promise.resolve(undefined);
  return narrowed(search, names, values, single(search), (seen) => {
    const at = front.indexOf(keysOf(seen)[0] ?? '');
    return at < 1 ? undefined : String(at);
  });
}

/** The name that takes the id of the last lead. */
export function findIdName(search: PositionSearch): Promise<string | undefined> {
  const { asker, front, found } = search;
  const names = unique([asker.params.cursor, ...idParams, ...cursorParams]);
  if (found.reaction !== 'ignores') return alone(search, names, () => front[search.page.count - 1] ?? '');
  const values = front.slice(0, -1);
  if (values.length === 0) return Promise.resolve(undefined);
  return narrowed(search, names, values, single(search), (seen) => {
    const at = front.indexOf(keysOf(seen)[0] ?? '');
    return at < 1 ? undefined : front[at - 1];
  });
}

/** The name that takes an opaque cursor, which the answer calls differently as a rule. `cursor` is the one of `page`. */
export async function findCursorName(
  search: PositionSearch,
  cursor: string,
  hinted: string,
): Promise<string | undefined> {
  const { asker, front, found, query, page } = search;
  const leads = (seen: Seen): boolean => seen.kind === 'page' && isBehind(front, page.count, keysOf(seen));
  const likely = unique([asker.params.cursor, hinted]);
  for (const name of likely) if (leads(await asker.ask({ ...query, [name]: cursor }))) return name;
  const names = cursorParams.filter((name) => !likely.includes(name));
  if (found.reaction !== 'ignores') return alone(search, names, () => cursor);
  // Cursors of pages that ended in different places tell the names apart.
  const ends = new Map([[cursor, page.count]]);
  for (const other of search.others) {
    const of = cursorOf(asker, other);
    const isApart = [...ends.values()].every((end) => Math.abs(end - other.count) > 2 * arrivals);
    if (of !== undefined && isApart) ends.set(of, other.count);
  }
  return narrowed(search, names, [...ends.keys()], query, (seen) => {
    const at = front.indexOf(keysOf(seen)[0] ?? '');
    return [...ends].find(([, end]) => (at < 0 ? end >= front.length : Math.abs(at - end) <= arrivals))?.[0];
  });
}

function cursorOf({ params }: DialectAsker, page: SeenPage): string | undefined {
  const next = readNext(params, page)?.next;
  return next?.kind === 'next' && next.position.style === 'cursor' ? next.position.cursor : undefined;
}

/** Parameters that usually go with the name of the limit. */
function related(limit: PositionSearch['found']['limit'], kind: 'page' | 'offset'): string[] {
  const name = limit.kind === 'honoured' ? limit.name : '';
  const [, prefix = ''] = /^([_$]|page\[)/.exec(name) ?? [];
  const usual = kind === 'page' ? ['page', 'number]'] : ['skip', 'start', 'offset]'];
  return usual
    .map((one) => prefix + one)
    .filter((one) => prefix !== '' && one.includes('[') === one.includes(']'));
}

/** A query for one lead, where the limit is honoured. */
function single({ found: { limit }, query }: PositionSearch): Query {
  return limit.kind === 'honoured' ? { ...query, [limit.name]: '1' } : query;
}

async function alone(
  { asker, query, front, page }: PositionSearch,
  names: readonly string[],
  valueOf: (name: string) => string,
): Promise<string | undefined> {
  for (const name of names.slice(0, mostAlone)) {
    const seen = await asker.ask({ ...query, [name]: valueOf(name) });
    if (seen.kind === 'page' && isBehind(front, page.count, keysOf(seen))) return name;
  }
  return undefined;
}

async function narrowed(
  { asker }: Pick<PositionSearch, 'asker'>,
  names: readonly string[],
  values: readonly string[],
  base: Query,
  read: (seen: Extract<Seen, { kind: 'page' }>) => string | undefined,
): Promise<string | undefined> {
  const found = await narrowNames(
    names,
    values,
    (sent) => shownBy(asker, { ...base, ...Object.fromEntries(sent) }, read),
    asker,
  );
  if (found.kind === 'unclear') asker.isPositionUnclear = true;
  return found.kind === 'found' ? found.name : undefined;
}

async function shownBy(
  asker: DialectAsker,
  query: Query,
  read: (seen: Extract<Seen, { kind: 'page' }>) => string | undefined,
): Promise<Shown<string>> {
  const seen = await asker.ask(query);
  if (seen.kind === 'unasked') return seen;
  if (seen.kind === 'rejected' || seen.count === 0) return { kind: 'unclear' };
  const value = read(seen);
  return value === undefined ? { kind: 'nothing' } : { kind: 'value', value };
}

/** What is known when it is asked how pages follow each other. */
export interface PositionSearch {
  readonly asker: DialectAsker;
  readonly found: FoundLimit;
  /** Leads from the front of the list. */
  readonly front: readonly string[];
  /** A page of a few leads, and what it was asked with. */
  readonly page: SeenPage;
  readonly query: Query;
  /** The size in that query; undefined where the service takes none. */
  readonly size: number | undefined;
  /** The other pages from the front that were read. */
  readonly others: readonly SeenPage[];
}

/** Leads that may arrive in front of the list while two answers are compared. */
const arrivals = 2;

/** Whether keys are those of the place behind the first `length` leads of the list `front`. */
function isBehind(front: readonly string[], length: number, keys: readonly string[]): boolean {
  const [first] = keys;
  if (first === undefined) return false;
  const before = front.slice(0, Math.max(1, length - arrivals));
  if (keys.some((key) => before.includes(key))) return false;
  return front.length <= length || front.slice(0, length + arrivals + 1).includes(first);
}

/** Why the two pages of a walk are not the beginning of the list `front`; undefined: they are. */
export function faultOfWalk(front: readonly string[], walked: TwoPages): string | undefined {
  if (walked.kind === 'unasked') return 'no request was left to try it';
  if (walked.kind === 'failed') return walked.why;
  const { first, second } = walked;
  if (!front.slice(0, 1 + arrivals).some((key) => first.includes(key)))
    return 'its first page is not the front of the list';
  return isBehind(front, first.length, second)
    ? undefined
    : 'its second page is not the one behind the first';
}

export interface ReadNext {
  readonly hints: PaginationHints;
  readonly next: NextPage;
}

/** What a page from the front of the list says itself of the page behind it; undefined where it was not read whole. */
export function readNext(params: RequestParams, { facts, count }: SeenPage): ReadNext | undefined {
  if (facts === undefined) return undefined;
  const hints = hintsOf(params, facts);
  const { says } = readNextPage({
    covers: facts,
    ...{ params: { ...params, pagination: 'auto' }, position: { style: 'start' }, facts, hints },
    ...{ met: count, isFull: true, isFiltered: false, nullNext: nullNextFrom(undefined) },
  });
  return { hints, next: says };
}
