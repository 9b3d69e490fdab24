import { jsonResponse, type SandboxResponse } from '../sandbox-server.ts';
import { countUntil, type SandboxLead } from '../data/lead-set.ts';
import type { ApiOptions, ParameterNames } from '../sandbox-options.ts';
import { cursorOf, isUnfiltered, type ListQuery, matches } from './list-query.ts';

/** `skipped` matching leads are before this page, the last of them is `previous`, and `total` match altogether. */
interface LeadPage {
  readonly leads: readonly SandboxLead[];
  readonly skipped: number;
  readonly total: number;
  readonly previous: SandboxLead | undefined;
}

/** `allLeads` are oldest first; `order` is that of the page. */
export function takePage(
  allLeads: readonly SandboxLead[],
  query: ListQuery,
  order: ApiOptions['order'],
): LeadPage {
  const { from, limit } = query;
  const oldestFirst = isUnfiltered(query) ? allLeads : allLeads.filter((lead) => matches(lead, query));
  const total = oldestFirst.length;
  const leadAt = (position: number): SandboxLead | undefined =>
    position < 0 ? undefined : oldestFirst[order === 'newest' ? total - 1 - position : position];
  const skipped = from.kind === 'skip' ? from.count : countThrough(oldestFirst, from, order);
  const length = Math.max(0, Math.min(limit, total - skipped));
  const leads = Array.from({ length }, (_, i) => leadAt(skipped + i)).filter((lead) => lead !== undefined);
  return { leads, skipped, total, previous: leadAt(skipped - 1) };
}

/** Counts the leads up to a cursor in this order, with the lead at the cursor itself. */
function countThrough(
  oldestFirst: readonly SandboxLead[],
  cursor: Pick<SandboxLead, 'createdAt' | 'seq'>,
  order: ApiOptions['order'],
): number {
  if (order === 'oldest') return countUntil(oldestFirst, cursor);
  const older = countUntil(oldestFirst, { ...cursor, seq: cursor.seq - 1 });
  return oldestFirst.length - older;
}

/** Begins the page with the last lead of the previous one, as a service does whose offsets moved. */
export const repeatPrevious = (page: LeadPage): LeadPage => {
  const repeated = page.previous ?? page.leads[0];
  return repeated === undefined ? page : { ...page, leads: [repeated, ...page.leads] };
};

/** Stands for the records while the rest of the body is written: a record keeps its own text. */
const placeholder = '\u0000records\u0000';

/** Makes the response with this page, which names `next` in its body or its `Link` header. */
export function wrapPage(
  page: LeadPage,
  next: NextPage | undefined,
  { limit }: ListQuery,
  api: ApiOptions,
): SandboxResponse {
  const headers: Record<string, string> = {};
  if (api.pagination === 'link' && next !== undefined) headers['link'] = `<${next.url.href}>; rel="next"`;
  const [head = '', tail = ''] = textsAroundRecords(page, next, limit, api);
  const records = page.leads.map((lead) => listedText(lead, api.statusField));
  return jsonResponse(200, `${head}[${records.join(',')}]${tail}`, headers);
}

/** The cursor, page number or offset of the next page, and the URL of its request. The last page has none. */
interface NextPage {
  readonly value: string | number;
  readonly url: URL;
}

const positionParameter = ({ pagination }: ApiOptions): 'cursor' | 'page' | 'offset' =>
  pagination === 'page' || pagination === 'offset' ? pagination : 'cursor';

export function nextPage(
  { leads, skipped, total }: LeadPage,
  { limit }: ListQuery,
  url: URL,
  api: ApiOptions,
): NextPage | undefined {
  const last = leads.at(-1);
  if (last === undefined || total - skipped <= limit) return undefined;
  const parameter = positionParameter(api);
  const values: Record<typeof parameter, () => string | number> = {
    page: () => Math.floor(skipped / limit) + 2,
    offset: () => skipped + limit,
    cursor: () => (api.next === 'id' ? last.id : cursorOf(last)),
  };
  const value = values[parameter]();
  const nextUrl = new URL(url);
  nextUrl.searchParams.set(api.params[parameter] ?? parameter, String(value));
  return { value, url: nextUrl };
}

/**
 * Names the requested page as its own next one: a client that follows it without a check never ends. Undefined
 * for a request without a position, which is for the first page.
 */
export function thisPageAsNext(url: URL, api: ApiOptions): NextPage | undefined {
  const parameter: keyof ParameterNames = positionParameter(api);
  const value = url.searchParams.get(api.params[parameter] ?? parameter);
  return value === null ? undefined : { value, url };
}

function textsAroundRecords(
  { skipped, total }: LeadPage,
  next: NextPage | undefined,
  limit: number,
  api: ApiOptions,
): string[] {
  const { envelope, pagination, nextField } = api;
  if (envelope === 'none') return ['', ''];
  const body: Record<string, unknown> = {};
  setDotted(body, envelope, placeholder);
  const isCounted = pagination === 'page' || pagination === 'offset';
  if (api.totals && isCounted) body['total'] = total;
  if (pagination === 'page') Object.assign(body, { page: Math.floor(skipped / limit) + 1, perPage: limit });
  if (pagination === 'offset') Object.assign(body, { offset: skipped, limit });
  const form = api.next ?? (pagination === 'cursor' ? 'cursor' : 'none');
  if (form !== 'none') {
    const [usualField, value] = {
      id: ['has_more', next !== undefined],
      url: ['next', next?.url.href],
      path: ['next', next && next.url.pathname + next.url.search],
      cursor: ['nextCursor', next?.value],
      number: [pagination === 'page' ? 'nextPage' : 'nextOffset', next?.value],
    }[form] as [string, unknown];
    setDotted(body, nextField ?? usualField, value ?? null);
  }
  return JSON.stringify(body).split(JSON.stringify(placeholder));
}

function setDotted(body: Record<string, unknown>, dotted: string, value: unknown): void {
  const steps = dotted.split('.');
  const name = steps.pop() ?? dotted;
  let inner = body;
  for (const step of steps) inner = (inner[step] ??= {}) as Record<string, unknown>;
  inner[name] = value;
}

/**
 * A record keeps its own text, with the delivery status as its last field (specification, section 2) unless it
 * has its own status.
 */
const listedText = (lead: SandboxLead, statusField: string): string =>
  lead.hasOwnStatus === true
    ? lead.text()
    : `${lead.text().slice(0, -1)},"${statusField}":${JSON.stringify(lead.status)}}`;
