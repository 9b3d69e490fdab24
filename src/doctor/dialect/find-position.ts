import type { Dialect } from '../../config/dialect.ts';
import { formatPointer, isObject, type Json } from '../../json/exact.ts';
import type { Completion, Evidence } from '../../service/listing/incomplete-error.ts';
import {
  linksIn,
  type NextHint,
  nextHintOf,
  type PaginationHints,
} from '../../service/pagination/pagination-hints.ts';
import {
  hintsOf,
  type NextPage,
  nullNextFrom,
  readNextPage,
} from '../../service/pagination/read-next-page.ts';
import { cursorParams, idParams, numberParams } from '../../service/pagination/service-names.ts';
import type { PagingAdvice } from '../problems.ts';
import { findHonouredName } from './find-honoured-name.ts';
import type { FoundLimit } from './find-limit.ts';
import type { DialectAsker, Query, Walked } from './limited-requests.ts';
import { keysOf, type SeenPage } from './seen-page.ts';

export type PositionFinding =
  | {
      readonly kind: 'found';
      /** What has to be set for it. */
      readonly dialect: Dialect;
      /** How pages follow each other, for people. */
      readonly style: string;
      readonly evidence: string;
      /** Pages name the next one: without that, a page is the last. */
      readonly isNextSeen?: boolean;
      /** What is not written, since it was not seen at work. */
      readonly unseen?: string | undefined;
      /** As below. */
      readonly uncutUpTo?: number;
    }
  /** The list does not page: proven up to so many leads. */
  | { readonly kind: 'alone'; readonly upTo: number; readonly evidence: string }
  /** It cannot be known from outside, or not yet. */
  | {
      readonly kind: 'undecided';
      readonly why: string;
      readonly advice: PagingAdvice;
      /** As many leads and one more came in one answer: where fewer come, they are not cut. */
      readonly uncutUpTo?: number;
    };

/** What is known when it is asked how pages follow each other. */
interface PositionSearch {
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
  /** The first pages of a walk in the dialect in force. */
  readonly asFound: Walked;
}

/** A candidate that went wrong is walked again as long as there are so many requests left. */
const enoughToRepeat = 10;

/** Finds out how pages follow each other: as the walk finds it itself, or by a parameter with another name. */
export async function findPosition(search: PositionSearch, isLearning: boolean): Promise<PositionFinding> {
  const { asker, page, front, size, asFound } = search;
  const fault = faultOfWalk(front, asFound);
  if (fault === undefined) return positionOf(asFound, search);
  const onePage = isLearning ? undefined : allAtOnce(asFound);
  if (onePage !== undefined) return onePage;
  if (!isLearning) return undecided(fault, 'learn');
  const read = readNext(asker, page);
  if (read === undefined) return undecided('the answer is too large to be read whole', 'affirm-one-page');
  const isAll = asFound.pages.flat().length >= front.length;
  if (isAll && isOnePage(asFound.completion)) return withoutPosition(search, read.hints, []);
  const { next } = read;
  const tried: string[] = [];
  for (const way of waysBy[next.kind === 'next' ? next.position.style : next.kind] ?? allWays) {
    const name = await findName(search, way, next);
    for (const dialect of name === undefined ? [] : dialectsOf[way](name)) {
      const walk = (): Promise<Walked> => asker.walk(asker.with(dialect), size);
      let walked = await walk();
      // A page may be an odd one by chance: leads that arrive, or one that comes twice.
      if (faultOfWalk(front, walked) !== undefined && asker.left >= enoughToRepeat) walked = await walk();
      const wrong = faultOfWalk(front, walked);
      if (wrong === undefined) return positionOf(walked, search);
      tried.push(`${name}: ${wrong}`);
    }
  }
  return withoutPosition(search, read.hints, tried);
}

const undecided = (why: string, advice: PagingAdvice): PositionFinding => ({
  kind: 'undecided',
  why,
  advice,
});

/** Why the two pages of a walk are not the beginning of the list `front`; undefined: they are. Others may have arrived. */
export function faultOfWalk(
  front: readonly string[],
  { pages, failure, completion }: Pick<Walked, 'pages' | 'failure' | 'completion'>,
): string | undefined {
  const [first, second] = pages.map((page) => keysOf({ leads: page }).filter((key) => front.includes(key)));
  if (failure !== undefined) return failure;
  if (first === undefined) return 'no request was left to try it';
  if (first[0] !== front[0]) return 'its first page is not the front of the list';
  if (second === undefined)
    return completion === undefined ? 'no request was left to try it' : 'it brought one page only';
  const isNext = [...first, ...second].every((key, i) => key === front[i]);
  return isNext && (second.length > 0 || first.length === front.length)
    ? undefined
    : 'its second page is not the one behind the first';
}

/** What has to be set for a walk that went on as this one. */
function positionOf({ next, pages }: Walked, { asker, page, front }: PositionSearch): PositionFinding {
  const [first = [], second = []] = pages;
  if (next === undefined) return undecided('two pages followed each other, and no third one', 'more-leads');
  const { position, pagesBefore } = next;
  const evidence = `two pages followed each other, of ${first.length} and ${second.length} leads`;
  const found = (style: string, dialect: Dialect, isNextSeen = false): PositionFinding => ({
    ...{ kind: 'found', dialect, style, evidence, isNextSeen },
  });
  const hint = readNext(asker, page)?.hints.next;
  const pointer = hint ? pointerOf(page.facts?.envelope.root ?? null, hint) : undefined;
  const named = pointer === undefined ? {} : { next: pointer };
  switch (position.style) {
    case 'start':
      return found('pages', {});
    case 'url':
      return linksIn(page.facts?.headers['link'])?.has('next') === true
        ? found('Link header', { pagination: 'link' }, true)
        : found('next URL in the body', { pagination: 'auto', ...named }, true);
    case 'cursor': {
      const { param: cursor, is } = position;
      const params = { cursor };
      return is === 'id'
        ? found(`last id in ${cursor}`, { pagination: 'cursor', params })
        : found(`cursor in ${cursor}`, { pagination: 'cursor', params, ...named }, true);
    }
    case 'page': {
      const { param } = position;
      const base = position.page - pagesBefore;
      const isFull = first.length === second.length;
      const style = `page number in ${param}${base === 1 ? '' : `, counted from ${base}`}`;
      return {
        // A list of one page may not show that numbers are understood.
        ...{ kind: 'found', style, evidence, uncutUpTo: front.length - 1 },
        // The walk finds by itself where pages are counted from another number.
        dialect: { pagination: base === 1 && isFull ? 'page' : 'auto', params: { page: param } },
        unseen: isFull
          ? undefined
          : 'from which number pages count is not written: that takes two full pages',
      };
    }
    case 'offset': {
      const { param: offset } = position;
      return found(`offset in ${offset}`, { pagination: 'offset', params: { offset } });
    }
  }
}

/** Of a list that honours no position, which may have another name. */
const lonePage: readonly Evidence[] = ['not-paged', 'lone-page', 'reaches-back'];

const isOnePage = (completion: Completion | undefined): boolean =>
  completion?.kind === 'complete' && !lonePage.includes(completion.evidence);

/** Of a list that fits on one page, nothing more can be seen. */
function allAtOnce({ completion, pages: [first = [], ...others] }: Walked): PositionFinding | undefined {
  if (completion?.kind !== 'complete' || others.length > 0) return undefined;
  return {
    ...{ kind: 'found', dialect: {}, style: 'one page' },
    evidence: `all ${first.length} leads came at once`,
  };
}

function withoutPosition(
  { asker, found: { limit }, asFound, front }: PositionSearch,
  { hasMore, total = 0 }: PaginationHints,
  tried: readonly string[],
): PositionFinding {
  const { completion, failure, pages } = asFound;
  if (asker.left < 2) return undecided('no request was left to find it', 'repeat');
  if (tried.length > 0) return undecided(tried.join('; '), 'name-parameter');
  if (hasMore === true || total > front.length)
    return undecided('there are more leads, and no usual parameter leads to them', 'name-parameter');
  const count = pages.flat().length;
  if (isOnePage(completion))
    return undecided(`all ${count} leads fit on one page, so no further one shows`, 'more-leads-or-affirm');
  if (limit.kind === 'honoured') {
    const way = 'either there is another parameter, or one page is all';
    return undecided(`${limit.name} is honoured, and no usual position: ${way}`, 'affirm-one-page');
  }
  const seen =
    failure ?? `no usual limit, page, offset or cursor changed anything: ${count} leads came each time`;
  return undecided(seen, 'affirm-one-page');
}

/** What a parameter takes that leads to another page. */
type Way = 'page' | 'offset' | 'id' | 'cursor';

/** The likely ones, by what an answer says of the next page. */
const waysBy: Readonly<Record<string, readonly Way[]>> = {
  url: [],
  cursor: ['cursor'],
  offset: ['offset', 'page'],
  page: ['page', 'offset'],
  'behind-id': ['id', 'page', 'offset'],
};
const allWays: readonly Way[] = ['page', 'offset', 'id'];

/** What is set for a name; a walk has to prove it. */
const dialectsOf: Readonly<Record<Way, (name: string) => readonly Dialect[]>> = {
  // Pages may count from 0, too, as the walk finds out.
  page: (page) => [
    { pagination: 'page', params: { page } },
    { pagination: 'auto', params: { page } },
  ],
  offset: (offset) => [{ pagination: 'offset', params: { offset } }],
  id: (cursor) => [{ pagination: 'cursor', params: { cursor } }],
  cursor: (cursor) => [{ pagination: 'cursor', params: { cursor } }],
};

/** Leads that may arrive in front of the list while two answers are compared. */
const arrivals = 2;

/** Beside those that the walk tries, so many are tried where a service does not ignore what it does not know. */
const mostAlone = 2;

/** The name of the parameter: the answer begins at the place that the value which counts leads to. */
async function findName(search: PositionSearch, way: Way, next: NextPage): Promise<string | undefined> {
  const { asker, found, front, page, query } = search;
  const names = namesFor(search, way, next);
  if (found.reaction !== 'ignores') {
    const { page: number, offset = 'offset', cursor = 'starting_after' } = asker.params;
    const untried = names.filter((name) => ![number, offset, cursor].includes(name));
    for (const name of untried.slice(0, mostAlone)) {
      const seen = await asker.ask({ ...query, [name]: valueBehind(search, way, next) });
      const at = seen.kind === 'page' ? front.indexOf(keysOf(seen)[0] ?? '') : 0;
      if (at < 0 ? front.length <= page.count : at > 0 && Math.abs(at - page.count) <= arrivals) return name;
    }
    return undefined;
  }
  const places = placesFor(search, way, names.length, next);
  if (places.size === 0) return undefined;
  const isSingle = way !== 'cursor' && found.limit.kind === 'honoured';
  // Pages may count from 0; cursors are of pages that were read while leads arrived.
  const [before, behind] = way === 'page' ? [0, 1] : way === 'cursor' ? [arrivals, arrivals] : [0, 0];
  const honoured = await findHonouredName<string>({
    ...{ asker, names, values: [...places.keys()], textOf: String },
    base: isSingle ? { ...query, [found.limit.name]: '1' } : query,
    read: (seen) => {
      const at = front.indexOf(keysOf(seen)[0] ?? '');
      const leadsHere = (place: number): boolean =>
        at < 0 ? place >= front.length : at >= place - before && at <= place + behind;
      const value = at === 0 ? undefined : [...places].find(([, place]) => leadsHere(place))?.[0];
      return value === undefined ? { kind: 'nothing' } : { kind: 'value', value };
    },
  });
  return honoured.kind === 'found' ? honoured.name : undefined;
}

/** The names that are tried, the likelier ones first. */
function namesFor({ asker, found: { limit } }: PositionSearch, way: Way, next: NextPage): string[] {
  const { page, cursor } = asker.params;
  const position = next.kind === 'next' ? next.position : undefined;
  const hinted = position?.style === way ? position.param : undefined;
  const [, prefix = ''] = /^([_$]|page\[)/.exec(limit.kind === 'honoured' ? limit.name : '') ?? [];
  // Parameters that usually go with the name of the limit.
  const related = (...usual: readonly string[]): string[] =>
    usual
      .map((name) => prefix + name)
      .filter((name) => prefix !== '' && name.includes('[') === name.includes(']'));
  const all = {
    page: [hinted, page, ...related('page', 'number]'), ...numberParams.page.usual],
    offset: [
      hinted,
      asker.params.offset,
      ...related('skip', 'start', 'offset]'),
      ...numberParams.offset.usual,
    ],
    id: [cursor, ...idParams, ...cursorParams],
    // The walk has tried the first one.
    cursor: cursorParams.filter((name) => name !== hinted),
  };
  return [...new Set(all[way])].filter((name) => name !== undefined);
}

/** Values to send, and the place in the list that each leads to. */
function placesFor(search: PositionSearch, way: Way, most: number, next: NextPage): Map<string, number> {
  const { asker, front, found, page, others } = search;
  const upTo = (count: number): number[] => Array.from({ length: Math.max(0, count) }, (_, i) => i + 1);
  switch (way) {
    case 'page': {
      if (found.limit.kind !== 'honoured') return new Map([['2', page.count]]);
      // A page of one lead: number 4 holds the fourth lead, or the fifth where pages count from 0.
      const pairs = upTo(Math.floor((front.length - 1) / 2));
      return new Map(pairs.map((i) => [String(2 * i), 2 * i - 1]));
    }
    case 'offset':
      return new Map(upTo(Math.min(front.length - 1, most)).map((i) => [String(i), i]));
    case 'id':
      return new Map(front.slice(0, -1).map((id, i) => [id, i + 1]));
    case 'cursor': {
      // Cursors of pages that ended in different places tell the names apart.
      const ends = new Map([[valueBehind(search, way, next), page.count]]);
      for (const other of others) {
        const there = readNext(asker, other)?.next;
        const isApart = [...ends.values()].every((end) => Math.abs(end - other.count) > 2 * arrivals);
        if (there?.kind === 'next' && there.position.style === 'cursor' && isApart)
          ends.set(there.position.cursor, other.count);
      }
      return ends;
    }
  }
}

/** The value that leads behind the page of a few leads. */
function valueBehind({ front, page }: PositionSearch, way: Way, next: NextPage): string {
  if (way === 'page') return '2';
  if (way === 'offset') return String(page.count);
  if (way === 'id') return front[page.count - 1] ?? '';
  return next.kind === 'next' && next.position.style === 'cursor' ? next.position.cursor : '';
}

interface ReadNext {
  readonly hints: PaginationHints;
  readonly next: NextPage;
}

/** What a page from the front of the list says itself of the page behind it; undefined where it was not read whole. */
function readNext({ params }: DialectAsker, { facts, count }: SeenPage): ReadNext | undefined {
  if (facts === undefined) return undefined;
  const hints = hintsOf(params, facts);
  const { says } = readNextPage({
    ...{
      params: { ...params, pagination: 'auto' },
      position: { style: 'start' },
      facts,
      covers: facts,
      hints,
    },
    ...{ met: count, isFull: true, isFiltered: false, repeats: true, nullNext: nullNextFrom(undefined) },
  });
  return { hints, next: says };
}

/** Levels of objects that are looked into. */
const deepest = 4;

/** The JSON Pointer to what names the next page; undefined where it is not found in exactly one place. */
function pointerOf(root: Json, hint: NextHint): string | undefined {
  const places: string[][] = [];
  const look = (value: Json, path: readonly string[]): void => {
    if (!isObject(value) || path.length >= deepest) return;
    for (const [name, member] of Object.entries(value)) {
      const found = nextHintOf(name, member);
      if (found?.value === hint.value && found.name === hint.name && !isObject(member))
        places.push([...path, name]);
      look(member, [...path, name]);
    }
  };
  look(root, []);
  const [only] = places;
  return places.length === 1 && only !== undefined ? formatPointer(only) : undefined;
}
