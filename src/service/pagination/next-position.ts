import { DataError } from '../../errors.ts';
import { cursorParams } from './hint-names.ts';
import type { NextHint } from './next-hint.ts';
import type { PageFacts } from './page-facts.ts';
import type { PaginationHints } from './pagination-hints.ts';
import { numberIn, numberOf, withNumber } from './position-number.ts';
import type { Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

/** Whether a list is read by page number or by offset, by the dialect, the last step, or what the answer shows. */
export function styleOf(
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
export function positionOfHint(
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
export function offsetPosition(
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
export function urlPosition(target: string, page: PageFacts): Position {
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
