import { readHeaderHints } from './header-hints.ts';
import { linksIn } from './link-header.ts';
import { offsetPosition, positionById, positionOfHint, styleOf, urlPosition } from './next-position.ts';
import type { NullNext } from './null-next.ts';
import type { PageFacts } from './page-facts.ts';
import { readPaginationHints, type PaginationHints } from './pagination-hints.ts';
import type { Position } from './position.ts';
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
