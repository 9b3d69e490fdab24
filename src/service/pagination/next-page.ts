import type { RequestParams } from './request-params.ts';
import { cursorPosition, overlapping, positionOfHint, styleOf, urlPosition } from './next-position.ts';
import type { PageFacts } from './page-facts.ts';
import { linksIn } from './link-header.ts';
import type { Position } from './position.ts';
import { readPaginationHints, type PaginationHints } from './pagination-hints.ts';
import type { NullNext } from './null-next.ts';

export type NextPage =
  | { readonly kind: 'next'; readonly position: Position; readonly total: number | undefined }
  /** The service says, or shows, that this was the last page; `said`: it does so whatever the page brought. */
  | { readonly kind: 'end'; readonly total: number | undefined; readonly said?: true }
  /** The answer says nothing about a next page. */
  | { readonly kind: 'silent'; readonly total: number | undefined };

/** What was walked so far in this pass, this page included; undefined when the walk began in the middle. */
type Walked = number | undefined;

/**
 * Where the page after this one begins, by the dialect's `pagination`, or by what the answer shows: a `Link` header
 * first, then a next URL, cursor or number in the body, `has_more`, page and offset with their totals.
 */
export function nextPageOf(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  walked: Walked,
  nullNext: NullNext,
): NextPage {
  const mode = params.pagination;
  const hints = readPaginationHints(page.envelope, page.count, params.next);
  const isUnused = params.next === 'auto' && nullNext.isUnused(position, hints, page.count, walked);
  const shown = isUnused ? { ...hints, next: undefined } : hints;
  const { total } = shown;
  const next = (following: Position | undefined): NextPage =>
    following === undefined ? { kind: 'end', total } : { kind: 'next', position: following, total };
  const lastPage: NextPage = { kind: 'end', total, said: true };
  if (mode === 'none') return lastPage;
  if (mode === 'auto' || mode === 'link') {
    const links = linksIn(page.link);
    const target = links?.get('next');
    if (target !== undefined) return next(urlPosition(target, page.url));
    const paged = ['first', 'prev', 'previous', 'last'].some((name) => links?.has(name));
    if (mode === 'link' || paged) return lastPage;
  }
  if (shown.hasMore === false || shown.next === null) return lastPage;
  if (shown.next !== undefined) return next(positionOfHint(params, position, page, shown, shown.next));
  if (mode === 'cursor') {
    if (shown.hasMore !== true || page.lastId === undefined) return { kind: 'end', total };
    return next(cursorPosition(params, 'cursor', page.lastId));
  }
  // A cursor or URL that led here and is not shown any more has come to its end, unless the total says otherwise.
  if ((position.style === 'url' || position.style === 'cursor') && shown.hasMore !== true) {
    return total !== undefined && walked !== undefined && walked < total
      ? { kind: 'silent', total }
      : lastPage;
  }
  const style = styleOf(params, position, shown);
  if (style === 'offset') return next(nextOffset(params, position, page, shown));
  if (style === 'page') return next(nextPage(params, position, page, shown, walked));
  if (shown.hasMore === true && page.lastId !== undefined) {
    return next(cursorPosition(params, 'cursor', page.lastId));
  }
  return total !== undefined && page.count >= total ? { kind: 'end', total } : { kind: 'silent', total };
}

function nextOffset(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  shown: PaginationHints,
): Position | undefined {
  const here = position.style === 'offset' ? position.offset : (shown.offset ?? 0);
  const on = here + page.count;
  const overlapOnly = position.style === 'offset' && position.after !== undefined && page.count === 1;
  if (page.count === 0 || overlapOnly) return undefined;
  if (shown.total !== undefined && on >= shown.total) return undefined;
  return { style: 'offset', param: params.offset, ...overlapping(on, page) };
}

function nextPage(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  shown: PaginationHints,
  walked: Walked,
): Position | undefined {
  const here =
    position.style === 'page'
      ? position.page
      : position.style === 'start'
        ? (shown.page ?? params.firstPage)
        : 1;
  if (page.count === 0) return undefined;
  if (shown.pages !== undefined && here >= shown.pages) return undefined;
  if (shown.pages === undefined && shown.total !== undefined && walked !== undefined) {
    if (walked >= shown.total) return undefined;
  }
  return { style: 'page', param: params.page, page: here + 1, after: page.lastId };
}
