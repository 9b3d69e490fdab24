import type { Envelope } from '../../json/page-envelope.ts';
import { isObject, type Json, valueAt } from '../../json/exact.ts';
import type { HeaderHints } from './header-hints.ts';
import {
  countNames,
  lastNames,
  moreNames,
  nestingNames,
  nextNames,
  offsetNames,
  pageNames,
  pageSizeNames,
  pagesNames,
  plainName,
  totalNames,
  vagueNextNames,
} from './hint-names.ts';
import { nextHintOf, type NextHint } from './next-hint.ts';

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

/**
 * Reads the envelope of a page of `count` leads; `pointer` is where the next page is named, when the dialect says it.
 */
export function readPaginationHints(
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
  const last = first(places, lastNames, strictBoolean);
  const counted = first(places, countNames, (value) => {
    const number = wholeNumber(value);
    return number !== undefined && number > count ? number : undefined;
  });
  return {
    next: pointer === 'auto' ? (inBody === undefined ? headers.next : inBody) : pointedAt(root, pointer),
    hasMore: more?.value ?? (last === undefined ? undefined : !last.value),
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
function placesOf(root: Json, path: readonly string[]): Members[] {
  const places: Members[] = [];
  for (let depth = path.length - 1; depth >= 0; depth -= 1) {
    const around = valueAt(root, path.slice(0, depth));
    if (isObject(around)) nest(around, places, 0);
  }
  return places;
}

function nest(object: Members, places: Members[], depth: number): void {
  places.push(object);
  if (depth === 3) return;
  for (const [name, value] of Object.entries(object)) {
    if (!nestingNames.includes(plainName(name))) continue;
    if (isObject(value)) nest(value, places, depth + 1);
    else if (Array.isArray(value)) places.push(linksIn(value as readonly Json[]));
  }
}

/** `[{"rel":"next","href":"…"}]` as an object of targets by their relation. */
function linksIn(links: readonly Json[]): Members {
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
  places: readonly Members[],
  names: readonly string[],
  read: (value: Json) => T | undefined,
): Found<T> | undefined {
  for (const name of names) {
    for (const place of places) {
      for (const [field, raw] of Object.entries(place)) {
        if (plainName(field) !== name) continue;
        const value = read(raw);
        if (value !== undefined) return { field, value };
        break;
      }
    }
  }
  return undefined;
}

function nextIn(places: readonly Members[]): PaginationHints['next'] {
  let end: null | undefined;
  for (const wanted of [...nextNames, ...vagueNextNames]) {
    if (end === null && vagueNextNames.includes(wanted)) return null;
    for (const place of places) {
      for (const [field, value] of Object.entries(place)) {
        if (plainName(field) !== wanted) continue;
        const next = nextHintOf(field, value);
        if (next === null) end = null;
        else if (next !== undefined) return next;
        break;
      }
    }
  }
  return end;
}

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
