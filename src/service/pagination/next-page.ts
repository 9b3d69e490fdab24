import { DataError } from '../../errors.ts';
import type { RequestParams } from './request-params.ts';
import type { PageFacts } from '../listing/fetch-page.ts';
import { linksIn } from './link-header.ts';
import type { Position } from './position.ts';
import { readPaginationHints, type PaginationHints } from './pagination-hints.ts';
import type { NullNext } from './null-next.ts';

export type NextPage =
  | { readonly kind: 'next'; readonly at: Position; readonly total: number | undefined }
  /** The service says, or shows, that this was the last page; `said`: it does so whatever the page brought. */
  | { readonly kind: 'end'; readonly total: number | undefined; readonly said?: true }
  /** Nothing was said about a way on. */
  | { readonly kind: 'silent'; readonly total: number | undefined };

/** What was walked so far in this pass, this page included; undefined when the walk began in the middle. */
type Walked = number | undefined;

/**
 * Where the page after this one begins, by the dialect's `pagination`, or by what the answer shows: a `Link` header
 * first, then a next URL, cursor or number in the body, `has_more`, page and offset with their totals.
 */
export function nextPageOf(
  asking: RequestParams,
  at: Position,
  page: PageFacts,
  walked: Walked,
  unused: NullNext,
): NextPage {
  const mode = asking.pagination;
  const told = readPaginationHints(page.envelope, page.count, asking.next);
  const isUnused = asking.next === 'auto' && unused.isAt(at, told, page.count, walked);
  const signals = isUnused ? { ...told, next: undefined } : told;
  const { total } = signals;
  const next = (position: Position | undefined): NextPage =>
    position === undefined ? { kind: 'end', total } : { kind: 'next', at: position, total };
  const lastPage: NextPage = { kind: 'end', total, said: true };
  if (mode === 'none') return lastPage;
  if (mode === 'auto' || mode === 'link') {
    const links = linksIn(page.link);
    const target = links?.get('next');
    if (target !== undefined) return next(urlPosition(target, page.url));
    const paged = ['first', 'prev', 'previous', 'last'].some((name) => links?.has(name));
    if (mode === 'link' || paged) return lastPage;
  }
  if (signals.hasMore === false || signals.next === null) return lastPage;
  if (signals.next !== undefined) return next(nextPosition(asking, at, page, signals, signals.next));
  if (mode === 'cursor') {
    if (signals.hasMore !== true || page.lastId === undefined) return { kind: 'end', total };
    return next(cursorPosition(asking, 'cursor', page.lastId));
  }
  // A way on that led here and is not shown any more has come to its end, unless the total says otherwise.
  if ((at.style === 'url' || at.style === 'cursor') && signals.hasMore !== true) {
    return total !== undefined && walked !== undefined && walked < total
      ? { kind: 'silent', total }
      : lastPage;
  }
  const style = styleOf(asking, at, signals);
  if (style === 'offset') return next(nextOffset(asking, at, page, signals));
  if (style === 'page') return next(nextPage(asking, at, page, signals, walked));
  if (signals.hasMore === true && page.lastId !== undefined) {
    return next(cursorPosition(asking, 'cursor', page.lastId));
  }
  return total !== undefined && page.count >= total ? { kind: 'end', total } : { kind: 'silent', total };
}

function styleOf(
  asking: RequestParams,
  at: Position,
  signals: PaginationHints,
): 'page' | 'offset' | undefined {
  if (asking.pagination === 'page' || at.style === 'page') return 'page';
  if (asking.pagination === 'offset' || at.style === 'offset') return 'offset';
  if (signals.page !== undefined || signals.pages !== undefined) return 'page';
  return signals.offset === undefined ? undefined : 'offset';
}

function nextPosition(
  asking: RequestParams,
  at: Position,
  page: PageFacts,
  signals: PaginationHints,
  { name, value }: NonNullable<PaginationHints['next']>,
): Position {
  const text = String(value);
  const isToken = /cursor|token/.test(name);
  if (/^https?:\/\//i.test(text) || (!isToken && /^[/?]/.test(text))) return urlPosition(text, page.url);
  const isNumber = /^\d{1,15}$/.test(text);
  const style = styleOf(asking, at, signals);
  if (isNumber && !isToken && asking.pagination !== 'cursor') {
    if (name === 'nextoffset' || (name === 'next' && style === 'offset')) {
      return { style: 'offset', param: asking.offset, ...overlapping(Number(text), page) };
    }
    if (name === 'nextpage' || name === 'next') {
      return { style: 'page', param: asking.page, page: Number(text), after: page.lastId };
    }
  }
  return cursorPosition(asking, name, text);
}

/** The parameter that takes a cursor is named after it in the services that do not call it `cursor`. */
const cursorParams: Readonly<Record<string, string>> = {
  nextpagetoken: 'page_token',
  nexttoken: 'next_token',
  after: 'after',
  endcursor: 'after',
};

function cursorPosition(asking: RequestParams, name: string, cursor: string): Position {
  return { style: 'cursor', param: asking.cursor ?? cursorParams[name] ?? 'cursor', cursor };
}

/**
 * Within the service's own origin only, since the key goes along. A service behind a proxy that ends TLS may write
 * `http://` for itself: its name is what counts then.
 */
function urlPosition(target: string, from: URL): Position {
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url !== undefined && url.hostname === from.hostname && url.protocol === 'http:') {
    if (url.port === from.port || url.port === '80') {
      url.protocol = from.protocol;
      url.port = from.port;
    }
  }
  if (url?.origin === from.origin) return { style: 'url', url: url.href };
  throw new DataError(
    `the next page lies at ${url?.origin ?? 'no proper URL'}, another origin than ${from.origin}`,
    {
      hint: 'the API key is not sent there',
    },
  );
}

/** One record back, so that the next page shows by its first record whether the list has moved. */
function overlapping(
  offset: number,
  { count, lastId }: PageFacts,
): { readonly offset: number; readonly after?: string } {
  return lastId === undefined || count < 2 || offset < 1 ? { offset } : { offset: offset - 1, after: lastId };
}

function nextOffset(
  asking: RequestParams,
  at: Position,
  page: PageFacts,
  signals: PaginationHints,
): Position | undefined {
  const here = at.style === 'offset' ? at.offset : (signals.offset ?? 0);
  const on = here + page.count;
  const overlapOnly = at.style === 'offset' && at.after !== undefined && page.count === 1;
  if (page.count === 0 || overlapOnly) return undefined;
  if (signals.total !== undefined && on >= signals.total) return undefined;
  return { style: 'offset', param: asking.offset, ...overlapping(on, page) };
}

function nextPage(
  asking: RequestParams,
  at: Position,
  page: PageFacts,
  signals: PaginationHints,
  walked: Walked,
): Position | undefined {
  const here = at.style === 'page' ? at.page : at.style === 'start' ? (signals.page ?? asking.firstPage) : 1;
  if (page.count === 0) return undefined;
  if (signals.pages !== undefined && here >= signals.pages) return undefined;
  if (signals.pages === undefined && signals.total !== undefined && walked !== undefined) {
    if (walked >= signals.total) return undefined;
  }
  return { style: 'page', param: asking.page, page: here + 1, after: page.lastId };
}
