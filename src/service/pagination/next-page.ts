import { DataError } from '../../errors.ts';
import { cursorParams } from './hint-names.ts';
import {
  linksIn,
  type NextHint,
  type PageFacts,
  type PaginationHints,
  readHeaderHints,
  readPaginationHints,
} from './pagination-hints.ts';
import { numberIn, numberOf, type Position, withNumber } from './position.ts';
import type { RequestParams } from './request-params.ts';

/** What an answer says about the page behind it. */
export type NextPage =
  | { readonly kind: 'next'; readonly position: Position }
  /** The service says that there is none. */
  | { readonly kind: 'end'; readonly evidence: 'explicit-end' | 'affirmed' }
  /** Its total is reached by a page that is not full. */
  | { readonly kind: 'total-reached' }
  /** More leads follow the one with this id; the parameter that takes it is not known. */
  | { readonly kind: 'behind-id'; readonly id: string }
  /** The answer says nothing about a next page. */
  | { readonly kind: 'silent' }
  /** It says that there is more, and nothing that leads there. */
  | { readonly kind: 'contradiction'; readonly why: string };

export interface PageContext {
  /** Different leads met so far, this page included; undefined when the walk began in the middle. */
  readonly met: number | undefined;
  /** The page may have been cut at a limit. */
  readonly isFull: boolean;
}

/** What an answer says about its place in the list, from its headers and its body. */
export const hintsOf = (params: RequestParams, page: PageFacts): PaginationHints =>
  readPaginationHints(page.envelope, readHeaderHints(page.headers), page.count, params.next);

/**
 * Where the page after this one begins, by the dialect's `pagination`, or by what the answer shows: a `Link` header
 * first, then a next URL, cursor or number in the body, `has_more`, page and offset with their totals.
 */
export function nextPageOf(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  hints: PaginationHints,
  nullNext: NullNext,
  context: PageContext,
): NextPage {
  const mode = params.pagination;
  if (mode === 'none') return affirmed(page, hints);
  const explicitEnd: NextPage = { kind: 'end', evidence: 'explicit-end' };
  if (mode === 'auto' || mode === 'link') {
    const links = linksIn(page.headers['link']);
    const target = links?.get('next');
    if (target !== undefined) return { kind: 'next', position: urlPosition(target, page) };
    if (['first', 'prev', 'previous', 'last'].some((name) => links?.has(name))) return explicitEnd;
  }
  if (hints.hasMore === false) return explicitEnd;
  const isUnused = params.next === 'auto' && nullNext.isUnused(position, hints, page.count, context.met);
  if (hints.next === null && !isUnused) return explicitEnd;
  if (hints.next) {
    return { kind: 'next', position: positionOfHint(params, position, page, hints, hints.next) };
  }
  return nextWithoutHint(params, position, page, hints, context);
}

function nextWithoutHint(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  hints: PaginationHints,
  context: PageContext,
): NextPage {
  const { lastId } = page;
  const isById = position.style === 'cursor' && position.is === 'id';
  const isFollowed = (position.style === 'url' || position.style === 'cursor') && !isById;
  // A cursor or URL that led here and is not shown any more has come to its end.
  if (isFollowed && hints.hasMore !== true) return { kind: 'end', evidence: 'explicit-end' };
  const style = isById ? undefined : styleOf(params, position, hints);
  if (style === 'offset') return nextOffset(params, position, page, hints, context);
  if (style === 'page') return nextNumber(params, position, page, hints, context);
  if (isById && lastId !== undefined && page.count > 0) {
    return { kind: 'next', position: positionById(params, position.param, lastId) };
  }
  if (hints.hasMore !== true) return { kind: 'silent' };
  return lastId === undefined
    ? {
        kind: 'contradiction',
        why: 'the service says that there is more, and its answer does not lead there',
      }
    : { kind: 'behind-id', id: lastId };
}

/** `api.pagination none` says that one page is all, unless the answer itself says otherwise. */
function affirmed({ count }: PageFacts, { hasMore, total }: PaginationHints): NextPage {
  if (hasMore === true) {
    return { kind: 'contradiction', why: 'the service says that there is more, and api.pagination is none' };
  }
  if (total !== undefined && total > count) {
    return {
      kind: 'contradiction',
      why: `the service counts ${total} leads and gave ${count}, and api.pagination is none`,
    };
  }
  return { kind: 'end', evidence: 'affirmed' };
}

function nextOffset(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  hints: PaginationHints,
  { isFull }: PageContext,
): NextPage {
  const here = position.style === 'offset' ? position.offset : (hints.offset ?? 0);
  const end = here + page.count;
  // A smaller total than what came is wrong, or leads have gone: then it proves nothing.
  if (hints.total === end && !isFull) return { kind: 'total-reached' };
  return { kind: 'next', position: offsetPosition(params, hints, end, page) };
}

function nextNumber(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  { page: shown, pages, total }: PaginationHints,
  { isFull, met }: PageContext,
): NextPage {
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
    position: { style: 'page', param: params.page, page: here + 1, after: page.lastId },
  };
}

/** Whether a list is read by page number or by offset, by the dialect, the last step, or what the answer shows. */
function styleOf(
  params: RequestParams,
  position: Position,
  hints: PaginationHints,
): 'page' | 'offset' | undefined {
  if (params.pagination === 'page' || position.style === 'page') return 'page';
  if (params.pagination === 'offset' || position.style === 'offset') return 'offset';
  if (position.style !== 'start') return undefined;
  if (hints.page !== undefined || hints.pages !== undefined) return 'page';
  return hints.offset === undefined ? undefined : 'offset';
}

/** Where a next URL, cursor or number of the body leads. Throws a `DataError` for a URL of another origin. */
function positionOfHint(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  hints: PaginationHints,
  { name, field, value }: NextHint,
): Position {
  const text = String(value);
  const isToken = /cursor|token/.test(name);
  if (/^https?:\/\//i.test(text) || (!isToken && /^[/?]/.test(text))) {
    return urlPosition(text, page);
  }
  const isNumber = /^\d{1,15}$/.test(text);
  const style = styleOf(params, position, hints);
  if (isNumber && !isToken && params.pagination !== 'cursor') {
    if (name === 'nextoffset' || name === 'nextstart' || (name === 'next' && style === 'offset')) {
      const param =
        name === 'nextstart' ? 'start' : field === 'skip' || field === 'start' ? field : undefined;
      return offsetPosition(params, { offsetField: param ?? hints.offsetField }, Number(text), page);
    }
    if (name === 'nextpage' || name === 'next') {
      return { style: 'page', param: params.page, page: Number(text), after: page.lastId };
    }
  }
  return cursorPosition(params, position, field, text, page);
}

/** One record back, so that the next page shows by its first record whether the list has moved. */
function offsetPosition(
  params: RequestParams,
  { offsetField }: Pick<PaginationHints, 'offsetField'>,
  offset: number,
  { count, lastId }: PageFacts,
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
function cursorPosition(
  params: RequestParams,
  position: Position,
  field: string,
  cursor: string,
  page: PageFacts,
): Position {
  const param = params.cursor ?? cursorParams[field] ?? 'cursor';
  const plain: Position = { style: 'cursor', param, cursor };
  if (!/^\d{1,15}$/.test(cursor)) return plain;
  const value = Number(cursor);
  const known = numberOf(position);
  if (position.style !== 'start' && known === undefined) return plain;
  const isOffset = known?.kind !== 'page' && value === (known?.value ?? 0) + page.count;
  if (isOffset) return overlapped({ ...plain, is: 'offset' }, value, page);
  const isPage = known?.kind !== 'offset' && (known === undefined ? value <= 2 : value === known.value + 1);
  return isPage ? { ...plain, is: 'page', after: page.lastId } : plain;
}

/**
 * Within the service's own origin only, since the key goes along. A service behind a proxy that ends TLS may write
 * `http://` for itself: its name is what counts then. A page number or offset in it is treated like one in a body.
 */
function urlPosition(target: string, page: PageFacts): Position {
  const { url: from } = page;
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url !== undefined && url.hostname === from.hostname && url.protocol === 'http:') {
    if (url.port === from.port || url.port === '80') {
      url.protocol = from.protocol;
      url.port = from.port;
    }
  }
  if (url?.origin !== from.origin) {
    throw new DataError(
      `the next page lies at ${url?.origin ?? 'no proper URL'}, another origin than ${from.origin}`,
      { hint: 'the API key is not sent there' },
    );
  }
  const position: Position = { style: 'url', url: url.href };
  const next = numberIn(url);
  const here = numberIn(from);
  if (next === undefined || page.lastId === undefined) return position;
  if (here !== undefined && here.number.kind !== next.number.kind) return position;
  const { kind, value } = next.number;
  if (kind === 'offset') {
    const isCount = value === (here?.number.value ?? 0) + page.count;
    return isCount ? overlapped({ ...position, after: page.lastId }, value, page) : position;
  }
  const isCount = here === undefined ? value <= 2 : value === here.number.value + 1;
  return isCount ? { ...position, after: page.lastId } : position;
}

function overlapped(position: Position, value: number, { count, lastId }: PageFacts): Position {
  if (count < 2 || lastId === undefined || value < 1) return { ...position, after: undefined } as Position;
  return withNumber(position, value - 1, lastId);
}

/**
 * A next cursor or link that is null says that this was the last page, unless the same answer says plainly that there
 * is more: then it is a field that the service does not fill, and the walk goes by what it does fill.
 */
export class NullNext {
  readonly #filtered: boolean;
  /** The page that a resumed walk reads again: an earlier walk went on from it, whatever it says. */
  readonly #readAgain: number | undefined;
  #found = false;
  /** It was filled once: null is its own way to say that there is no more. */
  #filled = false;

  constructor(filtered: boolean, from: Position | undefined) {
    this.#filtered = filtered;
    this.#readAgain = from?.style === 'page' ? from.page - 1 : undefined;
  }

  /** Whether the null of this answer is such a field. Once found for a page, it holds for those behind it. */
  isUnused(position: Position, hints: PaginationHints, count: number, walked: number | undefined): boolean {
    if (hints.next) this.#filled = true;
    if (hints.next !== null || hints.hasMore === false) return false;
    if (hints.hasMore === true) return true;
    if (this.#filled || position.style === 'cursor' || position.style === 'url') return false;
    this.#found ||=
      (position.style === 'page' && position.page === this.#readAgain) ||
      this.#more(position, hints, count, walked);
    return this.#found;
  }

  #more(
    position: Position,
    { page, pages, offset, total }: PaginationHints,
    count: number,
    walked: number | undefined,
  ): boolean {
    const number = position.style === 'page' ? position.page : page;
    // Of pages that are counted from 0, the first is one page, too.
    if (pages !== undefined && (number !== undefined || position.style === 'start'))
      return (number || 1) < pages;
    if (total === undefined || count === 0) return false;
    const start = position.style === 'offset' ? position.offset : offset;
    if (start !== undefined) return start + count < total;
    // Of an answer without a page number it is unknown whether its total counts what a filter leaves out.
    if (walked === undefined || (number === undefined && this.#filtered)) return false;
    return Math.max(walked, count) < total;
  }
}
