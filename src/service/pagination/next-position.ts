import { DataError } from '../../errors.ts';
import type { PageFacts } from './page-facts.ts';
import type { PaginationHints } from './pagination-hints.ts';
import type { Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

/** Whether a list is read by page number or by offset, by the dialect, the last step, or what the answer shows. */
export function styleOf(
  params: RequestParams,
  position: Position,
  shown: PaginationHints,
): 'page' | 'offset' | undefined {
  if (params.pagination === 'page' || position.style === 'page') return 'page';
  if (params.pagination === 'offset' || position.style === 'offset') return 'offset';
  if (shown.page !== undefined || shown.pages !== undefined) return 'page';
  return shown.offset === undefined ? undefined : 'offset';
}

/** Where a next URL, cursor or number of the body leads. Throws a `DataError` for a URL of another origin. */
export function positionOfHint(
  params: RequestParams,
  position: Position,
  page: PageFacts,
  shown: PaginationHints,
  { name, value }: NonNullable<PaginationHints['next']>,
): Position {
  const text = String(value);
  const isToken = /cursor|token/.test(name);
  if (/^https?:\/\//i.test(text) || (!isToken && /^[/?]/.test(text))) return urlPosition(text, page.url);
  const isNumber = /^\d{1,15}$/.test(text);
  const style = styleOf(params, position, shown);
  if (isNumber && !isToken && params.pagination !== 'cursor') {
    if (name === 'nextoffset' || (name === 'next' && style === 'offset')) {
      return { style: 'offset', param: params.offset, ...overlapping(Number(text), page) };
    }
    if (name === 'nextpage' || name === 'next') {
      return { style: 'page', param: params.page, page: Number(text), after: page.lastId };
    }
  }
  return cursorPosition(params, name, text);
}

/** The parameter that takes a cursor is named after it in the services that do not call it `cursor`. */
const cursorParams: Readonly<Record<string, string>> = {
  nextpagetoken: 'page_token',
  nexttoken: 'next_token',
  after: 'after',
  endcursor: 'after',
};

export function cursorPosition(params: RequestParams, name: string, cursor: string): Position {
  return { style: 'cursor', param: params.cursor ?? cursorParams[name] ?? 'cursor', cursor };
}

/**
 * Within the service's own origin only, since the key goes along. A service behind a proxy that ends TLS may write
 * `http://` for itself: its name is what counts then.
 */
export function urlPosition(target: string, from: URL): Position {
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
export function overlapping(
  offset: number,
  { count, lastId }: PageFacts,
): { readonly offset: number; readonly after?: string } {
  return lastId === undefined || count < 2 || offset < 1 ? { offset } : { offset: offset - 1, after: lastId };
}
