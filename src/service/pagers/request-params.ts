import type { Dialect } from '../../config/dialect.ts';
import { parsePointer, type Json } from '../../json/exact.ts';
import { LeadReader } from '../../json/lead-reader.ts';
import { countInUrl, wholeNumberIn } from './position.ts';
import { numberParams, untilNames } from './names.ts';
import { ConfigError } from '../../errors.ts';

/**
 * How one service is asked in one walk: the dialect with its gaps filled. Names that are undefined are not sent. `isLimitGuessed`: the
 * service may take the limit for a filter. `untilNames`: under these, a time may lead further. `isPageSet`: the dialect or the path
 * names the page parameter. `leads`: keeps where it has found the leads. `answers.first`: the first answer that brought leads, without
 * these. `isTotalEstimate`: the service may count more leads than it lists, so that its total proves nothing. `keepsInvalid`: a record
 * that is no JSON stays in the list, as an `InvalidRecord`.
 */
export type RequestParams = Readonly<ReturnType<typeof requestParamsOf>> & {
  readonly keepsInvalid?: boolean;
};

export function urlBelow(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl.origin + baseUrl.pathname.replace(/\/+$/, '') + path);
  for (const [name, value] of baseUrl.searchParams) url.searchParams.append(name, value);
  return url;
}

/** Takes the names from the dialect; where it is silent, from the query of the path; else the specification's or the commonest. */
export function requestParamsOf(
  baseUrl: URL,
  dialect: Dialect,
  url = urlBelow(baseUrl, dialect.path ?? '/api/leads'),
) {
  const inPath = (names: readonly string[]): string | undefined =>
    names.find((name) => url.searchParams.has(name));
  const page = inPath(numberParams.page.inAddress);
  const offset = inPath(numberParams.offset.inAddress);
  const limit = inPath(numberParams.limit.inAddress);
  const { params = {} } = dialect;
  const nameOf = (value: string | null | undefined, fallback: string | undefined): string | undefined =>
    value === undefined ? fallback : (value ?? undefined);
  // A service that pages by other names may take `limit` for a filter (json-server does).
  const pagesItsOwnWay = page !== undefined || offset !== undefined || limit !== undefined;
  return {
    url,
    limit: nameOf(params.limit, limit ?? (pagesItsOwnWay ? undefined : 'limit')),
    isLimitGuessed: params.limit === undefined && limit === undefined && !pagesItsOwnWay,
    status: nameOf(params.status, 'status'),
    category: nameOf(params.category, 'category'),
    since: nameOf(params.since, undefined),
    until: nameOf(params.until, undefined),
    untilNames: params.until === undefined ? untilNames : params.until === null ? [] : [params.until],
    cursor: params.cursor ?? undefined,
    isPageSet: (params.page ?? page) !== undefined,
    page: params.page ?? page ?? 'page',
    before: params.before ?? undefined,
    offset: params.offset ?? offset,
    firstPage: page === undefined ? 1 : (wholeNumberIn(url.searchParams.get(page)) ?? 1),
    pagination: dialect.pagination ?? 'auto',
    items: pointer(dialect.items, 'api.items', '/data/leads'),
    leads: new LeadReader(pointer(dialect.item, 'api.item', '/node'), dialect.id),
    idName: dialect.id,
    answers: {} as { first?: Json },
    next: pointer(dialect.next, 'api.next', '/meta/next'),
    pageSize: dialect.pageSize,
    nextSeen: dialect.nextSeen ?? false,
    isTotalEstimate: dialect.total === 'estimate',
    dateFormat: dialect.dateFormat ?? 'iso',
  };
}

function pointer(text: string | undefined, key: string, example: string): readonly string[] | 'auto' {
  if (text === undefined || text === 'auto') return 'auto';
  const path = parsePointer(text);
  if (path !== undefined) return path;
  throw new ConfigError(`${key} is '${text}', which is neither 'auto' nor a JSON Pointer such as ${example}`);
}

const { limit: limitParam, page: pageParam, offset: offsetParam } = numberParams;
const positionParams = [...pageParam.inAddress, ...offsetParam.inAddress];

/** Whether an address may ask for some of the records only, while a total of the answer counts all of them. */
export function asksForPart({ url, limit }: RequestParams): boolean {
  const { kind, value } = countInUrl(url) ?? { kind: 'offset', value: 0 };
  const names = [...url.searchParams.keys()].filter(
    (name) => name !== limit && !limitParam.inAddress.includes(name),
  );
  return names.some((name) => !positionParams.includes(name)) || value > (kind === 'page' ? 1 : 0);
}
