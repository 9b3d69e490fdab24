import type { Envelope } from '../../json/envelope.ts';
import { isObject, type Json, valueAt } from '../../json/exact.ts';

/** What an answer says about the next page, read from the rest of its body under the usual names. */
export interface PaginationHints {
  /** A next URL, cursor or number, and the name it stood under; null: there is none, and it says so. */
  readonly next: { readonly name: string; readonly value: string | number } | null | undefined;
  readonly hasMore: boolean | undefined;
  readonly page: number | undefined;
  readonly pages: number | undefined;
  readonly offset: number | undefined;
  /** Leads that match in all. */
  readonly total: number | undefined;
}

type Members = { readonly [key: string]: Json };

/** Names are compared without case, `_` and `-`: `next_cursor`, `nextCursor` and `next-cursor` are one. */
const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

const nextNames = [
  'nextcursor',
  'nextpagetoken',
  'nexttoken',
  'nextpageurl',
  'nexturl',
  'nextlink',
  '@odata.nextlink',
  'nextpage',
  'nextoffset',
  'next',
];
const moreNames = ['hasmore', 'hasnext', 'hasnextpage', 'more'];
const pageNames = ['page', 'currentpage', 'pagenumber', 'pageindex', 'number'];
const pagesNames = ['totalpages', 'pages', 'pagecount', 'lastpage', 'numpages'];
const offsetNames = ['offset', 'skip', 'start'];
const totalNames = ['total', 'totalcount', 'totalitems', 'totalresults', 'totalrecords', 'totalelements'];
/** A total in some services, the length of the page in others: only a larger number than that can be the total. */
const countNames = ['count', 'items'];
/** Objects in which services put these names, from the array's own neighbours outwards. */
const nestings = [
  'meta',
  'pagination',
  'paging',
  'pageinfo',
  'page',
  'links',
  '_links',
  'cursor',
  'cursors',
  'responsemetadata',
];

/**
 * Reads the envelope of a page of `count` leads; `pointer` is where the next page is named, when the dialect says it.
 */
export function readPaginationHints(
  { root, path }: Envelope,
  count: number,
  pointer: readonly string[] | 'auto',
): PaginationHints {
  const places = placesOf(root, path);
  const first = <T>(names: readonly string[], read: (value: Json) => T | undefined): T | undefined => {
    for (const name of names) {
      for (const place of places) {
        const value = member(place, name);
        const found = value === undefined ? undefined : read(value);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return {
    next:
      pointer === 'auto'
        ? nextIn(places)
        : nextValue(pointer.at(-1) ?? 'next', valueAt(root, pointer) ?? null),
    hasMore: first(moreNames, (value) => (typeof value === 'boolean' ? value : undefined)),
    page: first(pageNames, wholeNumber),
    pages: first(pagesNames, wholeNumber),
    offset: first(offsetNames, wholeNumber),
    total:
      first(totalNames, wholeNumber) ??
      first(countNames, (value) => {
        const number = wholeNumber(value);
        return number !== undefined && number > count ? number : undefined;
      }),
  };
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
    if (isObject(value) && (nestings.includes(plain(name)) || (depth > 0 && plain(name) === 'next'))) {
      nest(value, places, depth + 1);
    }
  }
}

function member(object: Members, wanted: string): Json | undefined {
  for (const [name, value] of Object.entries(object)) if (plain(name) === wanted) return value;
  return undefined;
}

/** Names that may also stand for the page itself: they count only where no other name says that this was the last. */
const vagueNames = ['endcursor', 'after', 'cursor'];

function nextIn(places: readonly Members[]): PaginationHints['next'] {
  let end: null | undefined;
  for (const wanted of [...nextNames, ...vagueNames]) {
    if (end === null && vagueNames.includes(wanted)) return null;
    for (const place of places) {
      const value = member(place, wanted);
      const next = value === undefined ? undefined : nextValue(wanted, value);
      if (next === null) end = null;
      else if (next !== undefined) return next;
    }
  }
  return end;
}

function nextValue(name: string, value: Json): PaginationHints['next'] {
  if (value === null || value === false || value === '') return null;
  if (typeof value === 'string') return { name: plain(name), value };
  if (typeof value === 'number') return { name: plain(name), value };
  if (!isObject(value)) return undefined;
  const inner = value['href'] ?? value['url'] ?? value['link'] ?? value['cursor'] ?? value['after'];
  return typeof inner === 'string' && inner !== '' ? { name: plain(name), value: inner } : undefined;
}

function wholeNumber(value: Json): number | undefined {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
