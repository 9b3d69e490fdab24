import { DataError } from '../errors.ts';
import type { LeadQuery } from './listing-types.ts';
import { timeText } from './pagers/position.ts';
import type { PageRequest } from './pagers/pager.ts';
import type { RequestParams } from './pagers/request-params.ts';

/** A time is sent a day wider, since the service's idea of a day's beginning may differ; `leadFilter` decides. In ms. */
const widening = 86_400_000;

/** The address of a page, with the filters that the dialect knows how to send. */
export function pageUrl(
  { params, query }: { readonly params: RequestParams; readonly query: LeadQuery },
  { position, limit, limitNames }: Pick<PageRequest, 'position' | 'limit' | 'limitNames'>,
): URL {
  if (position.style === 'url') {
    const url = new URL(position.url);
    // A position may come from a file; the key goes to one origin only.
    if (url.origin === params.url.origin) return url;
    throw new DataError(`the page to go on with lies at ${url.origin}, another origin`);
  }
  const url = new URL(params.url);
  const set = (name: string | undefined, value: string | number | undefined): void => {
    if (name !== undefined && value !== undefined) url.searchParams.set(name, String(value));
  };
  const setTime = (name: string | undefined, ms: number | undefined, later: number): void =>
    set(name, ms === undefined ? undefined : timeText(ms + later, params.dateFormat));
  const { status, categories = [], since, until } = query;
  for (const name of limitNames ?? [params.limit]) set(name, limit);
  set(params.status, status);
  set(params.category, categories.length === 1 ? categories[0] : undefined);
  setTime(params.since, since, -widening);
  setTime(params.until, until, widening);
  switch (position.style) {
    case 'cursor':
      set(position.param, position.cursor);
      break;
    case 'page':
    case 'offset':
      set(position.param, position.number);
      break;
    case 'before': {
      const { ids, id, times, time = 0 } = position;
      for (const name of ids) set(name, id);
      // The time is a little later than the lead's, so that the lead itself comes once more, even when the service excludes the
      // time or compares whole seconds.
      for (const name of times) setTime(name, time, time % 1000 === 0 ? 1000 : 1);
      break;
    }
    case 'start':
      if (params.pagination === 'page') set(params.page, params.firstPage);
      if (params.pagination === 'offset') set(params.offset ?? 'offset', 0);
  }
  return url;
}
