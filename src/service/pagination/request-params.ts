import type { Dialect } from '../../config/dialect.ts';
import { ConfigError, DataError } from '../../errors.ts';
import { parsePointer } from '../../json/exact.ts';
import type { ArrayPlace } from '../../json/find-array.ts';
import type { Position } from './position.ts';
import type { LeadQuery } from '../listing/lead-query.ts';

/** How one service is asked, with every gap of the dialect filled: a parameter that is undefined is not sent. */
export interface RequestParams {
  /** The list operation, with the query that `api.path` carries. */
  readonly url: URL;
  readonly limit: string | undefined;
  readonly status: string | undefined;
  readonly category: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly cursor: string | undefined;
  readonly page: string;
  readonly offset: string;
  /** The number of the first page. */
  readonly firstPage: number;
  readonly pagination: NonNullable<Dialect['pagination']>;
  readonly items: ArrayPlace;
  readonly next: readonly string[] | 'auto';
  readonly pageSize: number | undefined;
  readonly dateFormat: NonNullable<Dialect['dateFormat']>;
}

const day = 86_400_000;
const pageNames = ['_page', 'page', 'page_number', 'pageNumber', 'page[number]', 'p', 'pg'];
const offsetNames = ['_start', 'offset', '_offset', 'skip', 'start', 'page[offset]'];
const limitNames = [
  '_limit',
  '_per_page',
  'limit',
  'per_page',
  'perPage',
  'page_size',
  'pageSize',
  'page[size]',
  'page[limit]',
  'size',
  'count',
  'take',
  'top',
  '$top',
];

/** The names of the dialect; where it is silent, those in the path's own query, then the usual ones. */
export function requestParamsOf(baseUrl: URL, dialect: Dialect): RequestParams {
  const path = dialect.path ?? '/api/leads';
  const url = new URL(baseUrl.origin + baseUrl.pathname.replace(/\/+$/, '') + path);
  for (const [name, value] of baseUrl.searchParams) url.searchParams.append(name, value);
  const own = (names: readonly string[]): string | undefined =>
    names.find((name) => url.searchParams.has(name));
  const page = own(pageNames);
  const offset = own(offsetNames);
  const limit = own(limitNames);
  const { params = {} } = dialect;
  const given = (value: string | null | undefined, fallback: string | undefined): string | undefined =>
    value === undefined ? fallback : (value ?? undefined);
  // A service that pages by other names may take `limit` for a filter (json-server does).
  const pagesItsOwnWay = page !== undefined || offset !== undefined || limit !== undefined;
  return {
    url,
    limit: given(params.limit, limit ?? (pagesItsOwnWay ? undefined : 'limit')),
    status: given(params.status, 'status'),
    category: given(params.category, 'category'),
    since: given(params.since, undefined),
    until: given(params.until, undefined),
    cursor: params.cursor ?? undefined,
    page: params.page ?? page ?? 'page',
    offset: params.offset ?? offset ?? 'offset',
    firstPage: page === undefined ? 1 : (wholeNumber(url.searchParams.get(page)) ?? 1),
    pagination: dialect.pagination ?? 'auto',
    items: pointer(dialect.items, 'api.items'),
    next: pointer(dialect.next, 'api.next'),
    pageSize: dialect.pageSize,
    dateFormat: dialect.dateFormat ?? 'iso',
  };
}

const wholeNumber = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

function pointer(text: string | undefined, key: string): readonly string[] | 'auto' {
  if (text === undefined || text === 'auto') return 'auto';
  const path = parsePointer(text);
  if (path !== undefined) return path;
  throw new ConfigError(
    `${key} is '${text}', which is neither 'auto' nor a JSON Pointer such as /data/leads`,
  );
}

/** The address of the page at a position, filters and page size included. */
export function pageUrl(
  asking: RequestParams,
  query: LeadQuery,
  size: number | undefined,
  at: Position,
): URL {
  if (at.style === 'url') {
    const url = new URL(at.url);
    // A position may come from a file; the key goes to one origin only.
    if (url.origin === asking.url.origin) return url;
    throw new DataError(`the page to go on with lies at ${url.origin}, another origin`);
  }
  const url = new URL(asking.url);
  const set = (name: string | undefined, value: string | undefined): void => {
    if (name !== undefined && value !== undefined) url.searchParams.set(name, value);
  };
  set(asking.limit, size === undefined ? undefined : String(size));
  set(asking.status, query.status);
  const categories = query.categories ?? [];
  set(asking.category, categories.length === 1 ? categories[0] : undefined);
  // A day wider, since the service's idea of a day's borders may differ; `leadFilter` decides.
  set(asking.since, query.since === undefined ? undefined : date(query.since - day, asking.dateFormat));
  set(asking.until, query.until === undefined ? undefined : date(query.until + day, asking.dateFormat));
  if (at.style === 'cursor') set(at.param, at.cursor);
  else if (at.style === 'page') set(at.param, String(at.page));
  else if (at.style === 'offset') set(at.param, String(at.offset));
  else if (asking.pagination === 'page') set(asking.page, String(asking.firstPage));
  else if (asking.pagination === 'offset') set(asking.offset, '0');
  return url;
}

function date(ms: number, format: RequestParams['dateFormat']): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : ms);
}
