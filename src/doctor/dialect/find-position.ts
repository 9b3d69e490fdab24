import type { Dialect } from '../../config/dialect.ts';
import { formatPointer, isObject, type Json } from '../../json/exact.ts';
import {
  hintsOf,
  linksIn,
  type NextHint,
  nextHintOf,
  type PaginationHints,
} from '../../service/pagers/hints.ts';
import { cursorParams, idNamesBehind, idParams, numberParams } from '../../service/pagers/names.ts';
import type { DialectEvidence, PagingAdvice, PagingStyle } from '../problems.ts';
import type { Asker, SeenPage, Walked } from './asker.ts';
import type { FoundLimit } from './find-limit.ts';
import { findAlone, findName, type Shown } from './find-name.ts';
import { keysOf } from './seen-leads.ts';

export type PositionFinding =
  | {
      readonly kind: 'found';
      /** What has to be set for it. */
      readonly dialect: Dialect;
      readonly style: PagingStyle;
      readonly evidence: DialectEvidence;
    }
  /** It cannot be known from outside, or not yet. */
  | { readonly kind: 'undecided'; readonly why: DialectEvidence; readonly advice: PagingAdvice };

/** What is known when it is asked how pages follow each other. */
export interface PositionSearch {
  readonly asker: Asker;
  readonly isLearning: boolean;
  readonly limit: FoundLimit;
  /** Leads from the front of the list, by their keys. */
  readonly front: readonly string[];
  /** Leads on each page of the walks; undefined where the service takes no size. */
  readonly size: number | undefined;
  /** Pages from the front: without a size, and as long as the service gives. */
  readonly first: SeenPage;
  readonly largest: SeenPage;
}

export const undecided = (why: DialectEvidence, advice: PagingAdvice): PositionFinding => ({
  kind: 'undecided',
  why,
  advice,
});

/** Finds out how pages follow each other: as the walk finds it itself, or by a parameter with another name; and the walk. */
export async function findPosition(
  search: PositionSearch,
  asFound: Walked,
): Promise<readonly [PositionFinding, Walked]> {
  const { asker, front, isLearning } = search;
  const fault = faultOf(front, asFound);
  if (front.length < 2)
    return [undecided({ kind: 'leads-listed-few', count: front.length }, 'more-leads'), asFound];
  if (fault !== undefined && !isLearning) return [asIs(asFound, fault), asFound];
  const page = await readSmall(search);
  if (fault === undefined) return [await positionOf(asFound, search, page), asFound];
  const count = asFound.pages.flat().length;
  const { completion } = asFound;
  const isProven =
    completion?.kind === 'complete' && !['not-paged', 'reaches-back'].includes(completion.evidence);
  if (isProven && count >= front.length)
    return [undecided({ kind: 'leads-on-one-page', count }, 'more-leads-or-affirm'), asFound];
  const hints = page.facts && hintsOf(asker.params, page.facts);
  let why: DialectEvidence | undefined = asFound.pages.length === 0 ? fault : undefined;
  for (const way of hints === undefined ? [] : waysBy(hints)) {
    for (const name of await namesThatCount(search, page, way)) {
      for (const dialect of dialectsOf[way](name)) {
        const walked = await asker.walk(asker.with(dialect), search.size);
        const failure = faultOf(front, walked);
        if (failure === undefined) return [await positionOf(walked, search, page), walked];
        why = { kind: 'name-failed', name, why: failure };
      }
    }
  }
  return [withoutPosition(search, hints, why), asFound];
}

function asIs({ completion, pages }: Walked, fault: DialectEvidence): PositionFinding {
  if (completion?.kind !== 'complete' || pages.length !== 1) return undecided(fault, 'learn');
  const evidence = { kind: 'leads-at-once', count: pages.flat().length } as const;
  return { kind: 'found', dialect: {}, style: { kind: 'one-page' }, evidence };
}

/** A page that says what there is behind it: the first page may be all of the list, and a smaller one name the next. */
async function readSmall({
  asker,
  first,
  limit,
  size,
  front,
  isLearning,
}: PositionSearch): Promise<SeenPage> {
  const isPart = first.count < front.length || first.count > (size ?? front.length);
  if (!isLearning || size === undefined || limit.kind !== 'honoured' || !isPart) return first;
  const small = await asker.ask({ [limit.name]: String(size) });
  return small.kind === 'page' ? small : first;
}

function withoutPosition(
  { asker, limit, front }: PositionSearch,
  hints: PaginationHints | undefined,
  why: DialectEvidence | undefined,
): PositionFinding {
  if (asker.left < 2) return undecided({ kind: 'no-request-for-it' }, 'repeat');
  if (why !== undefined) return undecided(why, 'name-parameter');
  if (hints?.hasMore === true || (hints?.total ?? 0) > front.length)
    return undecided({ kind: 'more-leads-unreached' }, 'name-parameter');
  const isLimited = limit.kind === 'honoured';
  return undecided(
    isLimited ? { kind: 'limit-alone', name: limit.name } : { kind: 'nothing-counts', count: front.length },
    'affirm-one-page',
  );
}

/** Why the two pages of a walk are not the beginning of the list `front`; undefined: they are. Others may have arrived. */
export function faultOf(
  front: readonly string[],
  { pages, refusal, completion }: Walked,
): DialectEvidence | undefined {
  if (refusal !== undefined) return { kind: 'said', text: refusal.sentence };
  const [first, second] = pages.map((page) => keysOf(page).filter((key) => front.includes(key)));
  if (second === undefined && completion === undefined) return { kind: 'no-request-for-it' };
  if (first?.[0] !== front[0] || first === undefined) return { kind: 'walk-begins-elsewhere' };
  if (second === undefined) return { kind: 'walk-of-one-page' };
  const isNext = [...first, ...second].every((key, i) => key === front[i]);
  const isBehind = second.length > 0 || first.length === front.length;
  return isNext && isBehind ? undefined : { kind: 'walk-goes-on-elsewhere' };
}

/** What has to be set for a walk that went on as this one, by a dialect that was tried. */
async function positionOf(
  { next, pages, pagesBefore }: Walked,
  search: PositionSearch,
  { facts }: SeenPage,
): Promise<PositionFinding> {
  const [first = [], second = []] = pages;
  const evidence = { kind: 'pages-followed', first: first.length, second: second.length } as const;
  const found = (style: PagingStyle, dialect: Dialect): PositionFinding => ({
    ...{ kind: 'found', style, dialect, evidence },
  });
  const hint = facts && hintsOf(search.asker.params, facts).next;
  const pointer = facts && hint ? pointerOf(facts.envelope.root, hint) : undefined;
  const named = { nextSeen: true, ...(pointer !== undefined && { next: pointer }) };
  switch (next?.style) {
    case 'url': {
      if (linksIn(facts?.headers['link'])?.has('next') !== true)
        return found({ kind: 'paged-by-url' }, { pagination: 'auto', ...named });
      return found({ kind: 'paged-by-link' }, { pagination: 'link', nextSeen: true });
    }
    case 'cursor': {
      const params = { cursor: next.param };
      return found(
        { kind: 'paged-by-cursor', param: next.param },
        { pagination: 'cursor', params, ...named },
      );
    }
    case 'page': {
      const from = next.base ?? next.page - pagesBefore;
      // Without a size in force, the walk itself finds out whether a short list has a second page.
      const isPlain = from === 1 && search.limit.kind === 'honoured';
      const dialect: Dialect = { pagination: isPlain ? 'page' : 'auto', params: { page: next.param } };
      return found({ kind: 'paged-by-number', param: next.param, from }, dialect);
    }
    case 'offset': {
      const params = { offset: next.param };
      return found({ kind: 'paged-by-offset', param: next.param }, { pagination: 'offset', params });
    }
    case 'before': {
      const names = [...next.ids, ...next.times];
      const [before] =
        names.length === 1 ? names : await namesThatCount(search, search.first, 'id', next.ids);
      // Of several times that were sent together, the filter that counts is the one that is learnt.
      if (before === undefined) return found({ kind: 'paged' }, {});
      return found({ kind: 'paged-by-id', param: before }, { pagination: 'before', params: { before } });
    }
    default:
      return found({ kind: 'paged' }, {});
  }
}

/** What a parameter takes that leads to another page. */
type Way = 'page' | 'offset' | 'id' | 'cursor';

/** The likely ones, by what an answer says of the next page. */
function waysBy({ next, hasMore, offset, page, pages }: PaginationHints): readonly Way[] {
  const isUrl = typeof next?.value === 'string' && /^(https?:|\/|\?)/.test(next.value);
  if (isUrl) return [];
  if (next) return typeof next.value === 'string' ? ['cursor'] : ['page', 'offset', 'cursor'];
  if (page !== undefined || pages !== undefined) return ['page', 'offset'];
  if (offset !== undefined) return ['offset', 'page'];
  return hasMore === true ? ['id', 'page', 'offset'] : ['page', 'offset', 'id'];
}

/** What is set for a name; a walk has to prove it. */
const dialectsOf: Readonly<Record<Way, (name: string) => readonly Dialect[]>> = {
  // Where pages count from 0, the walk finds that out.
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
/** Finds the name that leads elsewhere in the list: at most one. */
async function namesThatCount(
  search: PositionSearch,
  page: SeenPage,
  way: Way,
  names: readonly string[] = namesFor(search, way),
): Promise<readonly string[]> {
  const { asker, limit, front } = search;
  const places = placesFor(search, page, way, names.length);
  if (places.size === 0) return [];
  const isSingle = way !== 'cursor' && limit.kind === 'honoured';
  // Pages may count from 0; cursors are of pages that were read while leads arrived.
  const [before, behind] = way === 'page' ? [0, 1] : way === 'cursor' ? [arrivals, arrivals] : [0, 0];
  const ask = async (sent: ReadonlyMap<string, string>): Promise<Shown<string>> => {
    const base = isSingle ? { [limit.name]: '1' } : {};
    const seen = await asker.ask({ ...base, ...Object.fromEntries(sent) });
    if (seen.kind !== 'page') return seen.kind === 'unasked' ? 'unasked' : 'unclear';
    const at = front.indexOf(seen.leads[0]?.key ?? '');
    const isHere = (place: number): boolean =>
      at < 0 ? place >= front.length : at >= place - before && at <= place + behind;
    const value = at === 0 || seen.count === 0 ? undefined : [...places].find(([, place]) => isHere(place));
    return value === undefined ? 'nothing' : { value: value[0] };
  };
  const values = [...places.keys()];
  const found = limit.ignoresUnknown
    ? await findName(names, values, ask)
    : // The walk has tried the usual names.
      await findAlone(names.filter((name) => !usualNames.includes(name)).slice(0, 1), values[0] ?? '', ask);
  return typeof found === 'string' ? [] : [found.name];
}

const usualNames = ['page', 'offset', ...idNamesBehind.older, ...idNamesBehind.behindForMore];

/** The names that are tried, the likelier ones first: those that usually go with the name of the limit. */
function namesFor({ asker: { params }, limit }: PositionSearch, way: Way): string[] {
  const [prefix = ' '] = /^([_$]|\w+\[)/.exec(limit.kind === 'honoured' ? limit.name : '') ?? [];
  const names = {
    page: [params.page, ...numberParams.page.usual],
    offset: [params.offset, ...numberParams.offset.usual],
    id: [params.cursor, ...idParams, ...idNamesBehind.older, ...cursorParams],
    cursor: [params.cursor, ...cursorParams],
  };
  const all = [...new Set(names[way])].filter((name) => name !== undefined);
  return all.toSorted((a, b) => Number(b.startsWith(prefix)) - Number(a.startsWith(prefix)));
}

/** Values to send, and the place in the list that each leads to. */
function placesFor(
  { asker, front, limit, first, largest }: PositionSearch,
  page: SeenPage,
  way: Way,
  most: number,
): Map<string, number> {
  switch (way) {
    case 'page': {
      if (limit.kind !== 'honoured') return new Map([['2', page.count]]);
      // A page of one lead: number 4 holds the fourth lead, or the fifth where pages count from 0.
      const many = Math.max(0, Math.floor((front.length - 1) / 2));
      return new Map(Array.from({ length: many }, (_, i) => [String(2 * i + 2), 2 * i + 1]));
    }
    case 'offset':
      return new Map(front.slice(1, most + 1).map((_, i) => [String(i + 1), i + 1]));
    case 'id':
      return new Map(front.slice(0, -1).map((id, i) => [id, i + 1]));
    case 'cursor': {
      // Cursors of pages that ended in different places tell the names apart.
      const ends = new Map<string, number>();
      for (const { facts, count } of [page, first, largest]) {
        const value = facts && hintsOf(asker.params, facts).next?.value;
        const isApart = [...ends.values()].every((end) => Math.abs(end - count) > 2 * arrivals);
        if (value !== undefined && isApart) ends.set(String(value), count);
      }
      return ends;
    }
  }
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
