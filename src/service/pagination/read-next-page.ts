import { answerError, type UnprovenReason } from '../problems.ts';
import {
  isNamedNext,
  type Links,
  linksIn,
  type NextHint,
  type PageFacts,
  type PaginationHints,
  type PlacesCovered,
  readHeaderHints,
  readPaginationHints,
} from './pagination-hints.ts';
import { countInUrl, countOfPosition, type Position, windowPosition, withNumber } from './position.ts';
import type { RequestParams } from './request-params.ts';
import { cursorParamOf } from './service-names.ts';

/** What an answer says about the page behind it. */
export type NextPage =
  | { readonly kind: 'next'; readonly position: Position }
  /** The service says that there is none. */
  | {
      readonly kind: 'end';
      readonly evidence: 'explicit-end' | 'affirmed' | 'nothing-behind';
      /** The answer is silent, and the service was seen to name a next page where there is one. */
      readonly isNextMissing?: boolean;
    }
  /** Its total is reached by a page that is not full. */
  | { readonly kind: 'total-reached' }
  /** More leads follow the last one, which has this id; the parameter that leads there is not known. */
  | { readonly kind: 'behind-id'; readonly id: string | undefined }
  /** The answer says nothing about a next page. */
  | { readonly kind: 'silent' }
  /** It says that there is more, and nothing that leads there. */
  | { readonly kind: 'contradiction'; readonly reason: UnprovenReason };

/** A page, and what else it takes to say where the next one begins. */
export interface AnsweredPage {
  readonly params: RequestParams;
  /** Where the page begins. */
  readonly position: Position;
  readonly facts: PageFacts;
  readonly covers: PlacesCovered;
  readonly hints: PaginationHints;
  /** Different leads met in this pass so far, this page included; undefined when it was read again in part. */
  readonly met: number | undefined;
  /** It repeats a lead that was met before. */
  readonly repeats: boolean;
  /** The page may have been cut at a limit. */
  readonly isFull: boolean;
  /** The service was asked for some of its leads only: its total may count the others, too. */
  readonly isFiltered: boolean;
  /** This reading has no page before it that named it: of a resumed walk, that one came another day. */
  readonly isFirstAnswer: boolean;
  /** As the pages before have left it. */
  readonly nullNext: NullNext;
}

/**
 * A next cursor or link that is null says that this was the last page, unless the same answer says plainly that there
 * is more: then it is a field that the service does not fill, and the walk goes by what it does fill.
 */
export interface NullNext {
  /** It was filled once: null is its own way to say that there is no more. */
  readonly isFilled: boolean;
  /** It is such a field. Once found for a page, that holds for those behind it. */
  readonly isUnused: boolean;
  /** The page that a resumed walk reads again: an earlier walk went on from it, whatever it says. */
  readonly readAgain: number | undefined;
}

export const nullNextFrom = (from: Position | undefined): NullNext => ({
  isFilled: false,
  isUnused: false,
  readAgain: from?.style === 'page' ? from.page - 1 : undefined,
});

/** What an answer says about its place in the list, from its headers and its body. */
export function hintsOf(params: RequestParams, page: PageFacts): PaginationHints {
  const headers = readHeaderHints(page.headers, page.count);
  const hints = readPaginationHints(page.envelope, headers, page.count, params.next);
  return params.isTotalEstimate ? { ...hints, total: undefined } : hints;
}

/**
 * Where the page after this one begins, by the dialect's `pagination`, or by what the answer shows: a `Link` header
 * first, then a next URL, cursor or number in the body, `has_more`, page and offset with their totals.
 */
export function readNextPage(page: AnsweredPage): { readonly says: NextPage; readonly nullNext: NullNext } {
  const { params, hints, nullNext: before } = page;
  const plain = plainlySaid(page);
  if (plain !== undefined) return { says: plain, nullNext: before };
  const nullNext = params.next === 'auto' ? nullNextAfter(page) : before;
  if (hints.next) return { says: { kind: 'next', position: positionOfHint(page, hints.next) }, nullNext };
  const isUnused = params.next === 'auto' && isUnusedHere(page, nullNext);
  const isEnd = hints.next === null && !isUnused;
  return { says: isEnd ? explicitEnd : nextWithoutHint(page), nullNext };
}

const explicitEnd = { kind: 'end', evidence: 'explicit-end' } as const satisfies NextPage;

/** By the setting, a `Link` header, or a plain `has_more: false`. */
function plainlySaid(page: AnsweredPage): NextPage | undefined {
  const { facts, hints } = page;
  const { pagination } = page.params;
  if (pagination === 'none') return affirmed(facts, hints);
  if (pagination === 'auto' || pagination === 'link') {
    const links = linksIn(facts.headers['link']);
    const target = links?.get('next');
    if (target !== undefined) return { kind: 'next', position: urlPosition(target, page) };
    const isPlaced = ['first', 'prev', 'previous', 'last'].some((name) => links?.has(name));
    if (links !== undefined && isPlaced && !saysMoreThanLinks(page, links)) return explicitEnd;
  }
  return hints.hasMore === false ? explicitEnd : undefined;
}

/** Whether the body, or the place of the last page, speaks against a `Link` header that names no next page. */
function saysMoreThanLinks({ hints, facts, params, position }: AnsweredPage, links: Links): boolean {
  if (hints.hasMore === true || isNamedNext(hints.next)) return true;
  const urlOf = (name: string): URL | undefined => {
    const target = links.get(name);
    return target !== undefined && URL.canParse(target, facts.url.href)
      ? new URL(target, facts.url)
      : undefined;
  };
  const [first, last] = [urlOf('first'), urlOf('last')];
  if (last === undefined || hints.hasMore === false) return false;
  const number = countInUrl(last)?.number;
  if (number === undefined) {
    // What only the service understands says no more than that the first page is not the last one.
    const isFirst = position.style === 'start' && last.href !== facts.url.href;
    return isFirst && first !== undefined && first.href !== last.href;
  }
  const numbers = [facts.url, first].map((url) => url && countInUrl(url)?.number);
  const here = numbers.find((one) => one?.kind === number.kind)?.value;
  return number.value > (here ?? (number.kind === 'page' ? params.firstPage : 0));
}

function nextWithoutHint(page: AnsweredPage): NextPage {
  const { params, position, hints } = page;
  const { count, lastId } = page.facts;
  if (position.style === 'cursor' && position.is === 'time') return nextWindow(page, position);
  const isById = position.style === 'cursor' && position.is === 'id';
  const isFollowed = (position.style === 'url' || position.style === 'cursor') && !isById;
  // A cursor or URL that led here and is not shown any more has come to its end.
  if (isFollowed && hints.hasMore !== true)
    return page.isFirstAnswer ? { ...explicitEnd, isNextMissing: true } : explicitEnd;
  // So has a list whose service names the next page where there is one.
  const isNamed = params.nextSeen || page.nullNext.isFilled;
  if (isNamed && hints.next === undefined && hints.hasMore !== true && !countsMore(page))
    return { ...explicitEnd, isNextMissing: true };
  const style = isById ? undefined : styleOf(page);
  if (style === 'offset') return nextOffset(page);
  if (style === 'page') return nextNumber(page);
  if (isById && lastId !== undefined && count > 0) {
    return { kind: 'next', position: positionById(params, position.param, lastId) };
  }
  if (hints.hasMore !== true) return { kind: 'silent' };
  return lastId === undefined && position.style !== 'start'
    ? { kind: 'contradiction', reason: { kind: 'more-without-position' } }
    : { kind: 'behind-id', id: lastId };
}

/** By the time of its last lead: the window that ends there, until one brings nothing but what was met. */
function nextWindow(
  { params, facts, isFull, repeats }: AnsweredPage,
  { param, cursor }: Extract<Position, { readonly style: 'cursor' }>,
): NextPage {
  // The last lead of the page before belongs to it: without it, others may be missing as well.
  if (!repeats) return { kind: 'contradiction', reason: { kind: 'window-apart', param } };
  const oldest = facts.oldest?.();
  const position = oldest === undefined ? undefined : windowPosition(param, oldest, params.dateFormat);
  if (position !== undefined && position.cursor !== cursor) return { kind: 'next', position };
  if (isFull) return { kind: 'contradiction', reason: { kind: 'window-of-one-time', param } };
  return { kind: 'end', evidence: 'nothing-behind' };
}

/** `api.pagination none` says that one page is all, unless the answer itself says otherwise. */
function affirmed({ count, headers }: PageFacts, { hasMore, total, next }: PaginationHints): NextPage {
  const isNamed = linksIn(headers['link'])?.has('next') === true || /^next/i.test(next?.field ?? '');
  if (hasMore === true || isNamed) return { kind: 'contradiction', reason: { kind: 'more-than-one-page' } };
  if (total !== undefined && total > count)
    return { kind: 'contradiction', reason: { kind: 'total-beyond-one-page', total, count } };
  return { kind: 'end', evidence: 'affirmed' };
}

/** Places up to the end of the page. */
const placesUpTo = ({ position, covers, hints }: AnsweredPage): number =>
  (position.style === 'offset' ? position.offset : (hints.offset ?? 0)) + covers.count;

function nextOffset(page: AnsweredPage): NextPage {
  const { params, covers, hints, isFull } = page;
  const end = placesUpTo(page);
  // A smaller total than what came is wrong, or leads have gone: then it proves nothing.
  if (hints.total === end && !isFull) return { kind: 'total-reached' };
  return { kind: 'next', position: offsetPosition(params, hints, end, covers) };
}

function nextNumber({ params, position, facts, hints, isFull, met }: AnsweredPage): NextPage {
  const { page: shown, pages, total } = hints;
  const here =
    position.style === 'page' ? position.page : position.style === 'start' ? (shown ?? params.firstPage) : 1;
  const isExceeded = total !== undefined && met !== undefined && met > total;
  const isLast = pages !== undefined && here === pages && !isExceeded;
  const isReached = pages === undefined && total !== undefined && met === total;
  // The number of pages alone may be a wrong one: a first page that says it is the only one is confirmed.
  const isAlone = position.style === 'start' && total === undefined;
  if ((isLast || isReached) && !isFull && !isAlone) return { kind: 'total-reached' };
  return {
    kind: 'next',
    position: { style: 'page', param: params.page, page: here + 1, after: facts.lastId },
  };
}

/** Whether a list is read by page number or by offset, by the dialect, the last step, or what the answer shows. */
function styleOf({ params, position, hints }: AnsweredPage): 'page' | 'offset' | undefined {
  if (params.pagination === 'page' || position.style === 'page') return 'page';
  if (params.pagination === 'offset' || position.style === 'offset') return 'offset';
  if (position.style !== 'start') return undefined;
  if (hints.page !== undefined || hints.pages !== undefined) return 'page';
  return hints.offset === undefined ? undefined : 'offset';
}

/** Where a next URL, cursor or number of the body leads. Throws a `DataError` for a URL of another origin. */
function positionOfHint(page: AnsweredPage, { name, field, value, members }: NextHint): Position {
  const { params, position, facts, covers, hints } = page;
  if (members !== undefined && params.cursor === undefined && cursorParamOf[field] === undefined) {
    const url = new URL(facts.url);
    for (const [param, part] of Object.entries(members)) url.searchParams.set(param, String(part));
    return { style: 'url', url: url.href };
  }
  const text = String(value);
  const isToken = /cursor|token/.test(name);
  if (/^https?:\/\//i.test(text) || (!isToken && /^[/?]/.test(text))) {
    return urlPosition(text, page);
  }
  const isNumber = /^\d{1,15}$/.test(text);
  const style = styleOf(page);
  if (isNumber && !isToken && params.pagination !== 'cursor') {
    if (name === 'nextoffset' || name === 'nextstart' || (name === 'next' && style === 'offset')) {
      const param =
        name === 'nextstart' ? 'start' : field === 'skip' || field === 'start' ? field : undefined;
      // Some count from 1.
      const reach = placesUpTo(page) + (position.style === 'start' && page.isFull ? 1 : 0);
      // Further on than the page reaches, its last record is not the one before.
      const before = Number(text) > reach ? { count: 0, lastId: undefined } : covers;
      return offsetPosition(params, { offsetField: param ?? hints.offsetField }, Number(text), before);
    }
    if (name === 'nextpage' || name === 'next') {
      return { style: 'page', param: params.page, page: Number(text), after: facts.lastId };
    }
  }
  return cursorPosition(page, field, text);
}

/** One record back, so that the next page shows by its first record whether the list has moved. */
function offsetPosition(
  params: RequestParams,
  { offsetField }: Pick<PaginationHints, 'offsetField'>,
  offset: number,
  { count, lastId }: PlacesCovered,
): Position {
  const param = params.offset ?? offsetField ?? 'offset';
  return lastId === undefined || count < 2 || offset < 1
    ? { style: 'offset', param, offset }
    : { style: 'offset', param, offset: offset - 1, after: lastId };
}

/** The page behind the lead with this id, for services that take the last id as a cursor. */
export const positionById = (params: RequestParams, param: string | undefined, id: string): Position => ({
  style: 'cursor',
  param: param ?? params.cursor ?? 'starting_after',
  cursor: id,
  is: 'id',
});

/** A cursor that only counts pages or records is treated like a page number or an offset. */
function cursorPosition(page: AnsweredPage, field: string, cursor: string): Position {
  const { params, position, facts, covers } = page;
  const param = params.cursor ?? cursorParamOf[field] ?? 'cursor';
  const plain: Position = { style: 'cursor', param, cursor };
  if (!/^\d{1,15}$/.test(cursor)) return plain;
  const value = Number(cursor);
  const known = countOfPosition(position);
  if (position.style !== 'start' && known === undefined) return plain;
  const isOffset = known?.kind !== 'page' && value === (known?.value ?? 0) + covers.count;
  if (isOffset) return overlapped({ ...plain, is: 'offset' }, value, covers);
  const isPage = known?.kind !== 'offset' && (known === undefined ? value <= 2 : value === known.value + 1);
  return isPage ? { ...plain, is: 'page', after: facts.lastId } : plain;
}

/**
 * Within the service's own origin only, since the key goes along. A service behind a proxy that ends TLS may write
 * `http://` for itself: its name is what counts then. A page number or offset in it is treated like one in a body.
 */
function urlPosition(target: string, { facts, covers }: AnsweredPage): Position {
  const { url: from, lastId } = facts;
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url !== undefined && url.hostname === from.hostname && url.protocol === 'http:') {
    if (url.port === from.port || url.port === '80') {
      url.protocol = from.protocol;
      url.port = from.port;
    }
  }
  if (url?.origin !== from.origin) {
    throw answerError({ kind: 'next-page-elsewhere', there: url?.origin, origin: from.origin });
  }
  const position: Position = { style: 'url', url: url.href };
  const next = countInUrl(url);
  const here = countInUrl(from);
  if (next === undefined || lastId === undefined) return position;
  if (here !== undefined && here.number.kind !== next.number.kind) return position;
  const { kind, value } = next.number;
  if (kind === 'offset') {
    const isCount = value === (here?.number.value ?? 0) + covers.count;
    return isCount ? overlapped({ ...position, after: lastId }, value, covers) : position;
  }
  const isCount = here === undefined ? value <= 2 : value === here.number.value + 1;
  return isCount ? { ...position, after: lastId } : position;
}

function overlapped(position: Position, value: number, { count, lastId }: PlacesCovered): Position {
  if (count < 2 || lastId === undefined || value < 1) return { ...position, after: undefined } as Position;
  return withNumber(position, value - 1, lastId);
}

/** What this page, which says nothing plainly, shows of a `next` that is null. */
function nullNextAfter(page: AnsweredPage): NullNext {
  const { position, hints, nullNext: before } = page;
  if (hints.next) return { ...before, isFilled: true };
  if (hints.next !== null || hints.hasMore === true || isOwnEnd(page, before)) return before;
  const isReadAgain = position.style === 'page' && position.page === before.readAgain;
  return { ...before, isUnused: before.isUnused || isReadAgain || countsMore(page) };
}

const isUnusedHere = (page: AnsweredPage, known: NullNext): boolean =>
  page.hints.hasMore === true || (!isOwnEnd(page, known) && known.isUnused);

const isOwnEnd = ({ position }: AnsweredPage, { isFilled }: NullNext): boolean =>
  isFilled || position.style === 'cursor' || position.style === 'url';

/** Whether the numbers of an answer say that leads follow. */
function countsMore({ position, hints, facts: { count }, met, isFiltered }: AnsweredPage): boolean {
  const { page, pages, offset, total } = hints;
  const number = position.style === 'page' ? position.page : page;
  // Of pages that are counted from 0, the first is one page, too.
  if (pages !== undefined && (number !== undefined || position.style === 'start'))
    return (number || 1) < pages;
  if (total === undefined || count === 0) return false;
  const start = position.style === 'offset' ? position.offset : offset;
  if (start !== undefined) return start + count < total;
  // Of an answer without a page number it is unknown whether its total counts what a filter leaves out.
  if (met === undefined || (number === undefined && isFiltered)) return false;
  return Math.max(met, count) < total;
}
