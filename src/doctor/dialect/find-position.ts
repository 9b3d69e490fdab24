import type { Dialect } from '../../config/dialect.ts';
import { formatPointer, isObject, type Json } from '../../json/exact.ts';
import type { Completion } from '../../service/listing-types.ts';
import {
  hintsOf,
  linksIn,
  type NextHint,
  nextHintOf,
  type PageFacts,
  type PaginationHints,
} from '../../service/pagers/hints.ts';
import { namedPosition } from '../../service/pagers/named.ts';
import { cursorParams, idParams, numberParams } from '../../service/pagers/names.ts';
import type { Evidence } from '../../service/pagers/pager.ts';
import { type Position, start } from '../../service/pagers/position.ts';
import type { DialectEvidence, PagingAdvice, PagingStyle } from '../problems.ts';
import { findHonouredName } from './find-honoured-name.ts';
import type { FoundLimit } from './find-limit.ts';
import type { DialectAsker, Query, Walked } from './limited-requests.ts';
import { keysOf, type SeenPage } from './seen-page.ts';

export type PositionFinding =
  | {
      readonly kind: 'found';
      /** What has to be set for it. */
      readonly dialect: Dialect;
      readonly style: PagingStyle;
      readonly evidence: DialectEvidence;
      /** Pages name the next one: without that, a page is the last. */
      readonly isNextSeen?: boolean;
      /** From which number pages count was not seen at work, and is not written. */
      readonly isBaseUnseen?: boolean;
      /** As below. */
      readonly uncutUpTo?: number;
    }
  /** The list does not page: proven up to so many leads. */
  | { readonly kind: 'alone'; readonly upTo: number; readonly evidence: DialectEvidence }
  /** It cannot be known from outside, or not yet. */
  | {
      readonly kind: 'undecided';
      readonly why: DialectEvidence;
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
  if (read === undefined) return undecided({ kind: 'answer-too-large' }, 'affirm-one-page');
  const isAll = asFound.pages.flat().length >= front.length;
  if (isAll && isOnePage(asFound.completion)) return withoutPosition(search, read.hints, []);
  const { next } = read;
  const tried: TriedPosition[] = [];
  for (const way of waysBy[next.kind === 'next' ? next.position.style : next.kind] ?? allWays) {
    const name = await findName(search, way, next);
    if (name === undefined) continue;
    for (const dialect of dialectsOf[way](name)) {
      const walk = (): Promise<Walked> => asker.walk(asker.with(dialect), size);
      let walked = await walk();
      // A page may be an odd one by chance: leads that arrive, or one that comes twice.
      if (faultOfWalk(front, walked) !== undefined && asker.left >= enoughToRepeat) walked = await walk();
      const why = faultOfWalk(front, walked);
      if (why === undefined) return positionOf(walked, search);
      tried.push({ name, why });
    }
  }
  return withoutPosition(search, read.hints, tried);
}

const undecided = (why: DialectEvidence, advice: PagingAdvice): PositionFinding => ({
  kind: 'undecided',
  why,
  advice,
});

/** Why the two pages of a walk are not the beginning of the list `front`; undefined: they are. Others may have arrived. */
export function faultOfWalk(
  front: readonly string[],
  { pages, failure, completion }: Pick<Walked, 'pages' | 'failure' | 'completion'>,
): DialectEvidence | undefined {
  const [first, second] = pages.map((page) => keysOf({ leads: page }).filter((key) => front.includes(key)));
  if (failure !== undefined) return failure;
  if (first === undefined) return { kind: 'no-request-to-try' };
  if (first[0] !== front[0]) return { kind: 'walk-begins-elsewhere' };
  if (second === undefined)
    return { kind: completion === undefined ? 'no-request-to-try' : 'walk-of-one-page' };
  const isNext = [...first, ...second].every((key, i) => key === front[i]);
  return isNext && (second.length > 0 || first.length === front.length)
    ? undefined
    : { kind: 'walk-goes-on-elsewhere' };
}

/** What has to be set for a walk that went on as this one. */
function positionOf({ next, pages }: Walked, { asker, page, front }: PositionSearch): PositionFinding {
  const [first = [], second = []] = pages;
  if (next === undefined) return undecided({ kind: 'no-third-page' }, 'more-leads');
  const { position, pagesBefore } = next;
  const evidence = { kind: 'pages-followed', first: first.length, second: second.length } as const;
  const found = (style: PagingStyle, dialect: Dialect, isNextSeen = false): PositionFinding => ({
    ...{ kind: 'found', dialect, style, evidence, isNextSeen },
  });
  const hint = readNext(asker, page)?.hints.next;
  const pointer = hint ? pointerOf(page.facts?.envelope.root ?? null, hint) : undefined;
  const named = pointer === undefined ? {} : { next: pointer };
  switch (position.style) {
    case 'start':
      return found({ kind: 'paged' }, {});
    case 'url':
      return linksIn(page.facts?.headers['link'])?.has('next') === true
        ? found({ kind: 'paged-by-link' }, { pagination: 'link' }, true)
        : found({ kind: 'paged-by-url' }, { pagination: 'auto', ...named }, true);
    case 'cursor': {
      const { param: cursor } = position;
      const params = { cursor };
      return found(
        { kind: 'paged-by-cursor', param: cursor },
        { pagination: 'cursor', params, ...named },
        true,
      );
    }
    case 'before': {
      const [before = '', ...others] = [...position.ids, ...position.times];
      const style = { kind: 'paged-by-id', param: before } as const;
      // An export finds by itself which of several names is honoured.
      return found(style, others.length > 0 ? {} : { pagination: 'before', params: { before } });
    }
    case 'page': {
      const { param } = position;
      const from = position.page - pagesBefore;
      const isFull = first.length === second.length;
      return {
        // A list of one page may not show that numbers are understood.
        ...{
          kind: 'found',
          style: { kind: 'paged-by-number', param, from },
          evidence,
          uncutUpTo: front.length - 1,
        },
        // The walk finds by itself where pages are counted from another number.
        dialect: { pagination: from === 1 && isFull ? 'page' : 'auto', params: { page: param } },
        isBaseUnseen: !isFull,
      };
    }
    case 'offset': {
      const { param: offset } = position;
      return found({ kind: 'paged-by-offset', param: offset }, { pagination: 'offset', params: { offset } });
    }
  }
}

/** Of a list that honours no position, which may have another name. */
const lonePage: readonly Evidence[] = ['not-paged', 'reaches-back'];

const isOnePage = (completion: Completion | undefined): boolean =>
  completion?.kind === 'complete' && !lonePage.includes(completion.evidence);

/** Of a list that fits on one page, nothing more can be seen. */
function allAtOnce({ completion, pages: [first = [], ...others] }: Walked): PositionFinding | undefined {
  if (completion?.kind !== 'complete' || others.length > 0) return undefined;
  return {
    ...{ kind: 'found', dialect: {}, style: { kind: 'one-page' } },
    evidence: { kind: 'leads-at-once', count: first.length },
  };
}

/** A parameter, and why a walk by it was none. */
interface TriedPosition {
  readonly name: string;
  readonly why: DialectEvidence;
}

function withoutPosition(
  { asker, found: { limit }, asFound, front }: PositionSearch,
  { hasMore, total = 0 }: PaginationHints,
  tried: readonly TriedPosition[],
): PositionFinding {
  const { completion, failure, pages } = asFound;
  if (asker.left < 2) return undecided({ kind: 'no-request-to-find' }, 'repeat');
  if (tried.length > 0) return undecided({ kind: 'names-failed', tried }, 'name-parameter');
  if (hasMore === true || total > front.length)
    return undecided({ kind: 'more-leads-unreached' }, 'name-parameter');
  const count = pages.flat().length;
  if (isOnePage(completion)) return undecided({ kind: 'leads-on-one-page', count }, 'more-leads-or-affirm');
  if (limit.kind === 'honoured')
    return undecided({ kind: 'limit-alone', name: limit.name }, 'affirm-one-page');
  return undecided(failure ?? { kind: 'nothing-counts', count }, 'affirm-one-page');
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
  id: (before) => [{ pagination: 'before', params: { before } }],
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
  const hinted = position?.style === way && 'param' in position ? position.param : undefined;
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

/** What an answer says about the page behind it. */
type NextPage =
  { readonly kind: 'next'; readonly position: Position } | { readonly kind: 'behind-id' | 'silent' };

interface ReadNext {
  readonly hints: PaginationHints;
  readonly next: NextPage;
}

/** What a page from the front of the list says itself of the page behind it; undefined where it was not read whole. */
function readNext({ params }: DialectAsker, { facts, count }: SeenPage): ReadNext | undefined {
  if (facts === undefined) return undefined;
  const hints = hintsOf(params, facts);
  return { hints, next: nextOf({ ...params, pagination: 'auto' }, facts, hints, count) };
}

function nextOf(
  params: DialectAsker['params'],
  facts: PageFacts,
  hints: PaginationHints,
  count: number,
): NextPage {
  const request = { kind: 'page', position: start, limit: undefined } as const;
  const counts = { fresh: count, leadingFresh: count, leadingKnown: 0, hash: 0, isLeft: false };
  const answer = { kind: 'answer', request, facts, hints, head: [], tail: [], ...counts } as const;
  const position = namedPosition(params, answer, { records: count, pages: 1 });
  if (position !== undefined) return { kind: 'next', position };
  if (hints.page !== undefined || hints.pages !== undefined)
    return { kind: 'next', position: { style: 'page', param: params.page, page: (hints.page ?? 1) + 1 } };
  if (hints.offset !== undefined) {
    const param = params.offset ?? hints.offsetField ?? 'offset';
    return { kind: 'next', position: { style: 'offset', param, offset: count } };
  }
  return { kind: hints.hasMore === true ? 'behind-id' : 'silent' };
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
