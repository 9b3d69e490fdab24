import { isObject, valueAt, type Json } from '../../json/exact.ts';
import type { Envelope } from '../../json/page-scan.ts';
import type { RequestParams } from './request-params.ts';
import {
  countNames,
  deltaNames,
  lastNames,
  moreNames,
  nestingNames,
  nextHeaders,
  nextNames,
  offsetNames,
  pageNames,
  pageSizeNames,
  pagesNames,
  plainName,
  totalNames,
  vagueNextNames,
} from './names.ts';

/** What an answer says about its place in the list, read from its headers and the rest of its body. */
export interface PaginationHints {
  /** Null: there is no next page, and the answer says so. */
  readonly next: NextHint | null | undefined;
  readonly hasMore: boolean | undefined;
  readonly page: number | undefined;
  readonly pages: number | undefined;
  readonly offset: number | undefined;
  /** The field that the offset came in: the query parameter has the same name as a rule. */
  readonly offsetField: string | undefined;
  /** Records that the service puts on a page. */
  readonly pageSize: number | undefined;
  /** Leads that match in all. */
  readonly total: number | undefined;
}

type Members = { readonly [key: string]: Json };

/** The members of an object by their plain names; of several with the same one the first. */
type Place = ReadonlyMap<string, { readonly field: string; readonly value: Json }>;

/**
 * Reads the envelope of a page of `count` leads; `pointer` is where the next page is named, when the dialect says it.
 */
function readPaginationHints(
  { root, path }: Envelope,
  headers: HeaderHints,
  count: number,
  pointer: readonly string[] | 'auto',
): PaginationHints {
  const places = placesOf(root, path);
  const inBody = nextIn(places);
  const offset = first(places, offsetNames, wholeNumber);
  const total = first(places, totalNames, totalNumber);
  const more = first(places, moreNames, boolean);
  const next = pointer === 'auto' ? (inBody === undefined ? headers.next : inBody) : pointedAt(root, pointer);
  const last = isNamedNext(next) ? undefined : first(places, lastNames, strictBoolean);
  const counted = first(places, countNames, (value) => {
    const number = wholeNumber(value);
    return number !== undefined && number > count ? number : undefined;
  });
  return {
    next,
    hasMore: more?.value ?? (last === undefined ? headers.hasMore : !last.value),
    page: first(places, pageNames, wholeNumber)?.value ?? headers.page,
    pages: first(places, pagesNames, wholeNumber)?.value ?? headers.pages,
    offset: offset?.value,
    // CouchDB answers with `offset` and takes `skip`.
    offsetField: total?.field === 'total_rows' ? 'skip' : offset?.field,
    pageSize: first(places, pageSizeNames, wholeNumber)?.value,
    total: total?.value ?? headers.total ?? counted?.value,
  };
}

function pointedAt(root: Json, pointer: readonly string[]): PaginationHints['next'] {
  const value = valueAt(root, pointer);
  return value === undefined ? undefined : nextHintOf(pointer.at(-1) ?? 'next', value);
}

/** The objects around the array and what they nest, innermost first. */
function placesOf(root: Json, path: readonly string[]): Place[] {
  const places: Place[] = [];
  for (let depth = path.length - 1; depth >= 0; depth -= 1) {
    const around = valueAt(root, path.slice(0, depth));
    if (isObject(around)) nest(around, places, 0);
  }
  return places;
}

function nest(object: Members, places: Place[], depth: number): void {
  places.push(placeOf(object));
  if (depth === 3) return;
  for (const [name, value] of Object.entries(object)) {
    if (typeof value !== 'object' || !nestingNames.includes(plainName(name))) continue;
    if (isObject(value)) nest(value, places, depth + 1);
    else if (Array.isArray(value)) places.push(placeOf(linksByRelation(value as readonly Json[])));
  }
}

function placeOf(object: Members): Place {
  const place = new Map<string, { field: string; value: Json }>();
  for (const field of Object.keys(object)) {
    const plain = plainName(field);
    if (!place.has(plain)) place.set(plain, { field, value: object[field] ?? null });
  }
  return place;
}

/** `[{"rel":"next","href":"…"}]` as an object of targets by their relation. */
function linksByRelation(links: readonly Json[]): Members {
  const targets: Record<string, Json> = {};
  for (const link of links) {
    if (!isObject(link) || typeof link['rel'] !== 'string') continue;
    targets[link['rel'].toLowerCase()] ??= link['href'] ?? link['url'] ?? null;
  }
  return targets;
}

interface Found<T> {
  readonly field: string;
  readonly value: T;
}

function first<T>(
  places: readonly Place[],
  names: readonly string[],
  read: (value: Json) => T | undefined,
): Found<T> | undefined {
  for (const name of names) {
    for (const place of places) {
      const found = place.get(name);
      const value = found && read(found.value);
      if (found !== undefined && value !== undefined) return { field: found.field, value };
    }
  }
  return undefined;
}

function nextIn(places: readonly Place[]): PaginationHints['next'] {
  let end: null | undefined = first(places, deltaNames, nonEmpty) && null;
  for (const wanted of allNextNames) {
    if (end === null && vagueNextNames.includes(wanted)) return null;
    for (const place of places) {
      const found = place.get(wanted);
      // An offset that is a number says where this page begins.
      if (found === undefined || (wanted === 'offset' && wholeNumber(found.value) !== undefined)) continue;
      const { field, value } = found;
      const plain = nextHintOf(field, value);
      const next = plain === undefined ? tokenOf(field, value) : plain;
      if (next === null) end = null;
      else if (next !== undefined) return next;
    }
  }
  return end;
}

/** Whether a next page is named by a field that means nothing else: `last` and `done` may be about something else. */
export const isNamedNext = (next: PaginationHints['next']): boolean =>
  next !== undefined && next !== null && !vagueNextNames.includes(next.name);

const allNextNames = [...nextNames, ...vagueNextNames];

const nonEmpty = (value: Json): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function wholeNumber(value: Json): number | undefined {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Elasticsearch sends `{"value": 10000, "relation": "gte"}` for a count that it gave up: that is no total. */
function totalNumber(value: Json): number | undefined {
  if (!isObject(value)) return wholeNumber(value);
  const isExact = value['relation'] === undefined || value['relation'] === 'eq';
  return isExact && value['value'] !== undefined ? wholeNumber(value['value']) : undefined;
}

function boolean(value: Json): boolean | undefined {
  if (value === 1 || value === '1') return true;
  return value === 0 || value === '0' ? false : strictBoolean(value);
}

function strictBoolean(value: Json): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || !/^(true|false)$/i.test(value)) return undefined;
  return value.toLowerCase() === 'true';
}

/** A next URL, cursor or number, and the field it stood in. */
export interface NextHint {
  /** The field's name without case, `_` and `-`. */
  readonly name: string;
  /** The field's name as it stands there. */
  readonly field: string;
  readonly value: string | number;
  /** Of a token that is an object of texts and numbers: each may be a parameter of its own. */
  readonly members?: Readonly<Record<string, string | number>>;
}

/** Values that mark the end of a list in services that always send the field. */
const endMarkers: readonly Json[] = [null, false, '', 0, '0', -1, '-1', 'nil', 'null', 'false'];

const urlMembers = ['href', 'url', 'link'];
const cursorMembers = ['cursor', 'after', 'token', 'starting_after'];
/** Members of an object `next` that are numbers, and the field that means the same beside it. */
const numberMembers = {
  page: 'nextpage',
  number: 'nextpage',
  offset: 'nextoffset',
  skip: 'nextoffset',
  start: 'nextoffset',
};

/** Null: the field says that there is no next page. Undefined: it does not say anything that is understood. */
export function nextHintOf(field: string, value: Json): NextHint | null | undefined {
  if (endMarkers.includes(value)) return null;
  if (typeof value === 'string' || typeof value === 'number') return { name: plainName(field), field, value };
  if (!isObject(value)) return undefined;
  for (const member of [...urlMembers, ...cursorMembers]) {
    const inner = value[member];
    if (inner === null) return null;
    if (typeof inner === 'string' && inner !== '') {
      const isCursor = cursorMembers.includes(member);
      return {
        name: isCursor ? 'nextcursor' : plainName(field),
        field: isCursor ? member : field,
        value: inner,
      };
    }
  }
  for (const [member, name] of Object.entries(numberMembers)) {
    const inner = value[member];
    if (inner === null) return null;
    const isNumber = typeof inner === 'number' || (typeof inner === 'string' && /^\d{1,15}$/.test(inner));
    if (isNumber) return { name, field: member, value: inner };
  }
  return undefined;
}

/** An object or an array as the token of the next page: undefined where it holds nothing. */
function tokenOf(field: string, token: Json): NextHint | undefined {
  if (typeof token !== 'object' || token === null || Object.keys(token).length === 0) return undefined;
  const hint = { name: plainName(field), field, value: JSON.stringify(token) };
  const members = Object.entries(token).filter(
    (member): member is [string, string | number] =>
      typeof member[1] === 'string' || typeof member[1] === 'number',
  );
  const isFlat = isObject(token) && members.length === Object.keys(token).length;
  return isFlat ? { ...hint, members: Object.fromEntries(members) } : hint;
}

/** What the headers of an answer say about its place in the list. */
interface HeaderHints extends Pick<PaginationHints, 'next' | 'page' | 'pages' | 'total'> {
  /** False: the range of the answer reaches to the end of the list. */
  readonly hasMore: false | undefined;
}

type Headers = Readonly<Record<string, string | undefined>>;

const headerNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;

/** `items 0-24/319` (RFC 9110, section 14.4), or without the unit (PostgREST); `*` is an unknown total. Undefined for a range of bytes. */
export function contentRange(headers: Headers): ContentRange | undefined {
  const range = /^\s*(?:(?!bytes\b)[\w-]+\s+)?(?:(\d{1,15})-(\d{1,15})|\*)\s*\/\s*(\d{1,15}|\*)\s*$/i;
  const [all, from, to, total] = range.exec(headers['content-range'] ?? '') ?? [];
  if (all === undefined) return undefined;
  const count = from === undefined || to === undefined ? 0 : Number(to) - Number(from) + 1;
  return { end: to === undefined ? undefined : Number(to) + 1, count, total: headerNumber(total) };
}

interface ContentRange {
  /** Places up to the last record of the answer. */
  readonly end: number | undefined;
  readonly count: number;
  readonly total: number | undefined;
}

/** What the headers of an answer with `count` leads say: `nextHeaders`, numbers of pages and leads, a range. */
function readHeaderHints(headers: Headers, count: number): HeaderHints {
  const [name, field] = Object.entries(nextHeaders).find(([header]) => headers[header] !== undefined) ?? [];
  const next =
    name === undefined || field === undefined ? undefined : nextHintOf(field, headers[name]?.trim() ?? '');
  const range = contentRange(headers);
  const reachesEnd = range?.count === count && range.end !== undefined && range.end === range.total;
  const pages = headers['x-total-pages'] ?? headers['x-wp-totalpages'];
  const total = headers['x-total-count'] ?? headers['x-total'] ?? headers['x-wp-total'];
  return {
    next,
    hasMore: reachesEnd ? false : undefined,
    page: headerNumber(headers['x-page']),
    pages: headerNumber(pages),
    total: headerNumber(total) ?? range?.total,
  };
}

/** A text in quotation marks may hold anything, as may what stands between `<` and `>`. */
const linkValue = /<([^>]*)>((?:\s*;\s*[^\s=,;"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,;"]*))?)*)/g;
const linkParameter = /;\s*([^\s=,;"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

export type Links = ReadonlyMap<string, string>;

/** The targets of a `Link` header by their relation (RFC 8288), or undefined when there is none. */
export function linksIn(header: string | undefined): Links | undefined {
  if (header === undefined) return undefined;
  const links = new Map<string, string>();
  for (const [, target = '', parameters = ''] of header.matchAll(linkValue)) {
    const relation = [...parameters.matchAll(linkParameter)].find(
      ([, name]) => name?.toLowerCase() === 'rel',
    );
    for (const name of (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/)) {
      if (name !== '' && !links.has(name)) links.set(name, target.trim());
    }
  }
  return links;
}

/** What a page tells beside its leads, known when it is complete. */
export interface PageFacts {
  readonly status: number;
  /** The address that was asked, and the one that answered, redirects followed. */
  readonly asked: URL;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly envelope: Envelope;
  /** Records on the page. */
  readonly count: number;
  /** Id of its last record, if that has one. */
  readonly lastId: string | undefined;
  /** When that was created, where the newest records come first; ms. */
  readonly oldest?: () => number | undefined;
}

/** What an answer says about its place in the list, from its headers and its body. */
export function hintsOf(
  { next, isTotalEstimate }: Pick<RequestParams, 'next' | 'isTotalEstimate'>,
  page: PageFacts,
): PaginationHints {
  const headers = readHeaderHints(page.headers, page.count);
  const hints = readPaginationHints(page.envelope, headers, page.count, next);
  return isTotalEstimate ? { ...hints, total: undefined } : hints;
}
