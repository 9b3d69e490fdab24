import { jsonBytesResponse, type PlainResponse } from '../../http/server/plain-response.ts';
import { joinRecords } from '../data/join-records.ts';
import type { ApiOptions, ParameterNames } from './api-options.ts';
import { cursorOf, type ListQuery } from './list-query.ts';
import type { LeadPage } from './take-page.ts';

/** Stands where the records go. */
const placeholder = '\u0000records\u0000';

/**
 * A page as the options say: its body, and the `Link` header where the pagination has one. `repeatCursor`: the next page
 * is named by the cursor of this one.
 */
export function wrapPage(
  page: LeadPage,
  query: ListQuery,
  url: URL,
  api: ApiOptions,
  repeatCursor: boolean,
): PlainResponse {
  const next = page.more
    ? ((repeatCursor ? samePage(url, api) : undefined) ?? nextPage(page, query, url, api))
    : undefined;
  const headers: Record<string, string> = {};
  if (api.pagination === 'link' && next !== undefined) headers['link'] = `<${next.url.href}>; rel="next"`;
  const [head = '', tail = ''] = aroundRecords(page, query, next, api);
  return jsonBytesResponse(200, joinRecords(page.leads, api.statusField, `${head}[`, `]${tail}`), headers);
}

/** How a client asks for the next page. */
interface NextPage {
  /** Of the parameter for the cursor, the page or the offset. */
  readonly value: string | number;
  readonly url: URL;
}

function nextPage(page: LeadPage, query: ListQuery, url: URL, api: ApiOptions): NextPage | undefined {
  const last = page.leads.at(-1);
  if (last === undefined) return undefined;
  const skipped = page.skipped ?? 0;
  const [parameter, value]: [keyof ParameterNames, string | number] =
    api.pagination === 'page'
      ? ['page', Math.floor(skipped / query.limit) + 2]
      : api.pagination === 'offset'
        ? ['offset', skipped + query.limit]
        : ['cursor', api.next === 'id' ? last.id : cursorOf(last)];
  const nextUrl = new URL(url);
  nextUrl.searchParams.set(api.params[parameter] ?? parameter, String(value));
  return { value, url: nextUrl };
}

/** The cursor of this page again: a client that trusts it never ends. */
function samePage(url: URL, api: ApiOptions): NextPage | undefined {
  const parameter = api.pagination === 'page' || api.pagination === 'offset' ? api.pagination : 'cursor';
  const value = url.searchParams.get(api.params[parameter] ?? parameter);
  return value === null ? undefined : { value, url };
}

/** What stands before and after the array. */
function aroundRecords(
  page: LeadPage,
  query: ListQuery,
  next: NextPage | undefined,
  api: ApiOptions,
): string[] {
  if (api.envelope === 'none') return ['', ''];
  const body: Record<string, unknown> = {};
  setDotted(body, api.envelope, placeholder);
  if (api.totals && page.total !== undefined) body['total'] = page.total;
  if (api.pagination === 'page') {
    body['page'] = Math.floor((page.skipped ?? 0) / query.limit) + 1;
    body['perPage'] = query.limit;
  } else if (api.pagination === 'offset') {
    body['offset'] = page.skipped;
    body['limit'] = query.limit;
  }
  const form = api.next ?? (api.pagination === 'cursor' ? 'cursor' : 'none');
  if (form === 'id') setDotted(body, api.nextField ?? 'has_more', next !== undefined);
  else if (form === 'url') setDotted(body, api.nextField ?? 'next', next?.url.href ?? null);
  else if (form === 'path')
    setDotted(body, api.nextField ?? 'next', next ? next.url.pathname + next.url.search : null);
  else if (form === 'cursor') setDotted(body, api.nextField ?? 'nextCursor', next?.value ?? null);
  else if (form === 'number') {
    const usual = api.pagination === 'page' ? 'nextPage' : 'nextOffset';
    setDotted(body, api.nextField ?? usual, next?.value ?? null);
  }
  return JSON.stringify(body).split(JSON.stringify(placeholder));
}

/** Sets the field `a.b.c`, and makes the objects around it. */
function setDotted(body: Record<string, unknown>, dotted: string, value: unknown): void {
  const steps = dotted.split('.');
  const name = steps.pop() ?? dotted;
  let inner = body;
  for (const step of steps) inner = (inner[step] ??= {}) as Record<string, unknown>;
  inner[name] = value;
}
