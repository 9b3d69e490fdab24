import type { Dialect } from '../config/dialect.ts';
import { DataError, type LeadsError } from '../errors.ts';
import { isOverload } from './client/network-failure.ts';
import type { LeadQuery, ListingOptions } from './listing-types.ts';
import { start } from './pagers/position.ts';
import type { PageRequest } from './pagers/pager.ts';
import type { RequestParams } from './pagers/request-params.ts';

/** A time is sent a day wider, since the service's idea of a day's beginning may differ; `leadMatcher` decides. In ms. */
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

export function timeText(ms: number, format: NonNullable<Dialect['dateFormat']>): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : ms);
}

/** The sizes that are sent when the user named none, the next one when the service rejects one; undefined: its default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

export class PageSizes {
  #candidates: readonly (number | undefined)[];
  readonly #isGuess: boolean;

  /** A size that the user or the dialect names is not changed, and neither is that of a walk which is resumed. */
  constructor(
    { limit, pageSize: dialectSize, isLimitGuessed }: RequestParams,
    { from = start, pageSize, preferredSize, readsOnce }: ListingOptions,
  ) {
    const fixed = pageSize ?? dialectSize ?? from.size;
    const isFree = fixed === undefined && limit !== undefined && from.style === 'start' && readsOnce !== true;
    const smaller = usualSizes.filter((size = 0) => size < (preferredSize ?? Infinity));
    const free = preferredSize === undefined ? smaller : [preferredSize, ...smaller];
    this.#candidates = isFree ? free : [fixed];
    this.#isGuess = isLimitGuessed;
  }

  get current(): number | undefined {
    return this.#candidates[0];
  }

  get mayShrink(): boolean {
    return this.#candidates.length > 1;
  }

  /** Takes the next size if an error may come from the size of the page; returns whether it did. */
  fallBack(error: LeadsError): boolean {
    const isForSize = [400, 413, 414, 416, 422].includes(error.status ?? 0) || isOverload(error);
    if (!this.mayShrink || !isForSize) return false;
    this.#candidates = this.#candidates.slice(1);
    return true;
  }

  /**
   * Gives up a size whose parameter is guessed when the first page was empty: the service may have taken it for a filter.
   * Returns whether the page must be read once more.
   */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}
