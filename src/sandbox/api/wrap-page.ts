import { type Answer, jsonBytes } from '../../http/server/answer.ts';
import type { ApiOptions, ParameterNames } from './api-options.ts';
import type { Page } from './page.ts';
import { cursorOf, type Query } from './query.ts';
import { joinRecords } from '../data/join-records.ts';

const mark = '\u0000records\u0000';

/** A page in the form that the options ask for: body, and `Link` header where the style has one. */
export function envelope(page: Page, query: Query, url: URL, api: ApiOptions, stuck: boolean): Answer {
  const next = page.more
    ? ((stuck ? sameAgain(url, api) : undefined) ?? wayOn(page, query, url, api))
    : undefined;
  const headers: Record<string, string> = {};
  if (api.pagination === 'link' && next !== undefined) headers['link'] = `<${next.url.href}>; rel="next"`;
  const [head = '', tail = ''] = frame(page, query, next, api);
  return jsonBytes(200, joinRecords(page.leads, api.statusField, `${head}[`, `]${tail}`), headers);
}

interface WayOn {
  /** What the way-on parameter has to say. */
  readonly value: string | number;
  readonly url: URL;
}

function wayOn(page: Page, query: Query, url: URL, api: ApiOptions): WayOn | undefined {
  const last = page.leads.at(-1);
  if (last === undefined) return undefined;
  const skipped = page.skipped ?? 0;
  const [parameter, value]: [keyof ParameterNames, string | number] =
    api.pagination === 'page'
      ? ['page', Math.floor(skipped / query.limit) + 2]
      : api.pagination === 'offset'
        ? ['offset', skipped + query.limit]
        : ['cursor', api.next === 'id' ? last.id : cursorOf(last)];
  const on = new URL(url);
  on.searchParams.set(api.params[parameter] ?? parameter, String(value));
  return { value, url: on };
}

/** The cursor that was given, over and over: a client that trusts it never ends. */
function sameAgain(url: URL, api: ApiOptions): WayOn | undefined {
  const parameter = api.pagination === 'page' || api.pagination === 'offset' ? api.pagination : 'cursor';
  const value = url.searchParams.get(api.params[parameter] ?? parameter);
  return value === null ? undefined : { value, url };
}

/** What stands before and after the array. */
function frame(page: Page, query: Query, next: WayOn | undefined, api: ApiOptions): string[] {
  if (api.envelope === 'none') return ['', ''];
  const body: Record<string, unknown> = {};
  put(body, api.envelope, mark);
  if (api.totals && page.total !== undefined) body['total'] = page.total;
  if (api.pagination === 'page') {
    body['page'] = Math.floor((page.skipped ?? 0) / query.limit) + 1;
    body['perPage'] = query.limit;
  } else if (api.pagination === 'offset') {
    body['offset'] = page.skipped;
    body['limit'] = query.limit;
  }
  const form = api.next ?? (api.pagination === 'cursor' ? 'cursor' : 'none');
  if (form === 'id') put(body, api.nextField ?? 'has_more', next !== undefined);
  else if (form === 'url') put(body, api.nextField ?? 'next', next?.url.href ?? null);
  else if (form === 'path')
    put(body, api.nextField ?? 'next', next ? next.url.pathname + next.url.search : null);
  else if (form === 'cursor') put(body, api.nextField ?? 'nextCursor', next?.value ?? null);
  else if (form === 'number') {
    const usual = api.pagination === 'page' ? 'nextPage' : 'nextOffset';
    put(body, api.nextField ?? usual, next?.value ?? null);
  }
  return JSON.stringify(body).split(JSON.stringify(mark));
}

/** Sets `a.b.c` in a body that is being built. */
function put(body: Record<string, unknown>, dotted: string, value: unknown): void {
  const steps = dotted.split('.');
  const name = steps.pop() ?? dotted;
  let at = body;
  for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>;
  at[name] = value;
}
