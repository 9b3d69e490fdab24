import { DataError } from '../../../errors.ts';
import type { Position } from '../../pagination/position.ts';
import type { RequestParams } from '../../pagination/request-params.ts';
import type { LeadQuery } from '../lead-query.ts';

const day = 86_400_000;

/** The address of the page at a position, filters and page size included. */
export function pageUrl(
  params: RequestParams,
  query: LeadQuery,
  size: number | undefined,
  position: Position,
): URL {
  if (position.style === 'url') {
    const url = new URL(position.url);
    // A position may come from a file; the key goes to one origin only.
    if (url.origin === params.url.origin) return url;
    throw new DataError(`the page to go on with lies at ${url.origin}, another origin`);
  }
  const url = new URL(params.url);
  const set = (name: string | undefined, value: string | undefined): void => {
    if (name !== undefined && value !== undefined) url.searchParams.set(name, value);
  };
  set(params.limit, size === undefined ? undefined : String(size));
  set(params.status, query.status);
  const categories = query.categories ?? [];
  set(params.category, categories.length === 1 ? categories[0] : undefined);
  // A day wider, since the service's idea of a day's borders may differ; `leadFilter` decides.
  set(params.since, query.since === undefined ? undefined : date(query.since - day, params.dateFormat));
  set(params.until, query.until === undefined ? undefined : date(query.until + day, params.dateFormat));
  if (position.style === 'cursor') set(position.param, position.cursor);
  else if (position.style === 'page') set(position.param, String(position.page));
  else if (position.style === 'offset') set(position.param, String(position.offset));
  else if (params.pagination === 'page') set(params.page, String(params.firstPage));
  else if (params.pagination === 'offset') set(params.offset ?? 'offset', '0');
  return url;
}

function date(ms: number, format: RequestParams['dateFormat']): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : ms);
}
