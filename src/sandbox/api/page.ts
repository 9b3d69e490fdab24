import { jsonBytesResponse, type PlainResponse } from '../../http/server/plain-server.ts';
import type { LeadSet, SandboxLead } from '../data/lead-set.ts';
import type { ApiOptions, ParameterNames } from '../sandbox-options.ts';
import { cursorOf, isUnfiltered, type ListQuery, matches } from './list-query.ts';

/** The leads of one answer. */
interface LeadPage {
  readonly leads: readonly SandboxLead[];
  /** Leads before this page that match; known for page and offset styles only. */
  readonly skipped: number | undefined;
  /** Whether more match after it. */
  readonly more: boolean;
  /** How many match in all, where `countTotal` says so. */
  readonly total: number | undefined;
}

/** The leads that match, in the order of the list, from the position that the query names. */
export function takePage(
  set: LeadSet,
  query: ListQuery,
  order: 'newest' | 'oldest',
  countTotal: boolean,
): LeadPage {
  if (isUnfiltered(query)) return slice(set, query, order, countTotal);
  const step = order === 'newest' ? -1 : 1;
  let toSkip = query.from.kind === 'skip' ? query.from.count : 0;
  const leads: SandboxLead[] = [];
  let more = false;
  let total = 0;
  for (let position = firstPosition(set, query, order); ; position += step) {
    const lead = set.at(position);
    if (lead === undefined) break;
    if (!matches(lead, query)) continue;
    total += 1;
    if (toSkip > 0) toSkip -= 1;
    else if (leads.length < query.limit) leads.push(lead);
    else {
      more = true;
      if (!countTotal) break;
    }
  }
  return {
    leads,
    skipped: query.from.kind === 'skip' ? query.from.count : undefined,
    more,
    total: countTotal ? total : undefined,
  };
}

/** The page with the last lead of the page before it in front, as services do whose offsets have moved. */
export function repeatLast(
  page: LeadPage,
  set: LeadSet,
  query: ListQuery,
  order: 'newest' | 'oldest',
): LeadPage {
  const { from } = query;
  const before =
    from.kind === 'skip' && from.count > 0
      ? takePage(set, { ...query, limit: 1, from: { kind: 'skip', count: from.count - 1 } }, order, false)
          .leads[0]
      : from.kind === 'after'
        ? set.at(set.positionAfter(from.createdAt, from.seq) - 1)
        : page.leads[0];
  return before === undefined ? page : { ...page, leads: [before, ...page.leads] };
}

/** Without filters positions are arithmetic: listing many leads must not count them again for each page. */
function slice(set: LeadSet, query: ListQuery, order: 'newest' | 'oldest', countTotal: boolean): LeadPage {
  const step = order === 'newest' ? -1 : 1;
  const skipped = query.from.kind === 'skip' ? query.from.count : undefined;
  const first = firstPosition(set, query, order) + step * (skipped ?? 0);
  const available = Math.max(0, order === 'newest' ? first + 1 : set.size - first);
  const leads: SandboxLead[] = [];
  for (let i = 0; i < Math.min(available, query.limit); i += 1) {
    const lead = set.at(first + step * i);
    if (lead !== undefined) leads.push(lead);
  }
  return { leads, skipped, more: available > query.limit, total: countTotal ? set.size : undefined };
}

function firstPosition(set: LeadSet, query: ListQuery, order: 'newest' | 'oldest'): number {
  if (query.from.kind !== 'after') return order === 'newest' ? set.size - 1 : 0;
  const position = set.positionAfter(query.from.createdAt, query.from.seq);
  if (order === 'oldest') return position;
  const lead = set.at(position - 1);
  const isItself = lead?.seq === query.from.seq && lead.createdAt === query.from.createdAt;
  return isItself ? position - 2 : position - 1;
}

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

/**
 * `head`, the records with commas between them, `tail`. Each record is in its own bytes, with the delivery status as its
 * last field (specification, section 2) unless it has a status of its own. One buffer, filled once: pages are large.
 */
function joinRecords(leads: readonly SandboxLead[], statusField: string, head: string, tail: string): Buffer {
  const endings = new Map<string, Buffer>();
  const endingOf = (lead: SandboxLead): Buffer => {
    if (lead.ownStatus === true) return plainEnding;
    const kept = endings.get(lead.status);
    if (kept !== undefined) return kept;
    const ending = Buffer.from(`,${JSON.stringify(statusField)}:${JSON.stringify(lead.status)}},`);
    endings.set(lead.status, ending);
    return ending;
  };
  const opening = Buffer.from(head);
  const closing = Buffer.from(tail);
  const texts = leads.map((lead) => lead.text());
  let length = opening.length + closing.length;
  for (const [i, lead] of leads.entries()) length += (texts[i]?.length ?? 0) + endingOf(lead).length;
  const page = Buffer.allocUnsafe(length);
  page.set(opening, 0);
  let offset = opening.length;
  for (const [i, lead] of leads.entries()) {
    const text = texts[i] ?? lead.text();
    page.set(text, offset);
    // The status replaces the record's last brace, and ends with a brace of its own.
    offset += text.length - (lead.ownStatus === true ? 0 : 1);
    const ending = endingOf(lead);
    page.set(ending, offset);
    offset += ending.length;
  }
  // The last record's comma.
  if (leads.length > 0) offset -= 1;
  page.set(closing, offset);
  return page.subarray(0, offset + closing.length);
}

const plainEnding = Buffer.from(',');
