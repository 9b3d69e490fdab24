import { jsonTextResponse, type PlainResponse } from '../sandbox-server.ts';
import { countUntil, type SandboxLead } from '../data/lead-set.ts';
import type { ApiOptions, ParameterNames } from '../sandbox-options.ts';
import { cursorOf, isUnfiltered, type ListQuery, matches } from './list-query.ts';

interface LeadPage {
  readonly leads: readonly SandboxLead[];
  /** The number of matching leads before this page, and in total. */
  readonly skipped: number;
  readonly total: number;
  readonly previous: SandboxLead | undefined;
}

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
  const skipped =
    from.kind === 'skip'
      ? from.count
      : order === 'oldest'
        ? countUntil(oldestFirst, from)
        : total - countUntil(oldestFirst, { ...from, seq: from.seq - 1 });
  const length = Math.max(0, Math.min(limit, total - skipped));
  const leads = Array.from({ length }, (_, i) => leadAt(skipped + i)).filter((lead) => lead !== undefined);
  return { leads, skipped, total, previous: leadAt(skipped - 1) };
}

/** A service whose offsets moved repeats the last lead of the previous page. */
export const repeatPrevious = (page: LeadPage): LeadPage => {
  const [repeated = page.leads[0]] = [page.previous];
  return repeated === undefined ? page : { ...page, leads: [repeated, ...page.leads] };
};

const placeholder = '\u0000records\u0000';

export function wrapPage(
  page: LeadPage,
  next: NextPage | undefined,
  { limit }: ListQuery,
  api: ApiOptions,
): PlainResponse {
  const headers: Record<string, string> = {};
  if (api.pagination === 'link' && next !== undefined) headers['link'] = `<${next.url.href}>; rel="next"`;
  const [head = '', tail = ''] = aroundRecords(page, next, limit, api);
  const records = page.leads.map((lead) => listedText(lead, api.statusField));
  return jsonTextResponse(200, `${head}[${records.join(',')}]${tail}`, headers);
}

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

/** A client that follows the page itself as the next one never ends. Undefined for the first page. */
export function samePage(url: URL, api: ApiOptions): NextPage | undefined {
  const parameter: keyof ParameterNames = positionParameter(api);
  const value = url.searchParams.get(api.params[parameter] ?? parameter);
  return value === null ? undefined : { value, url };
}

function aroundRecords(
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
  lead.ownStatus === true
    ? lead.text()
    : `${lead.text().slice(0, -1)},"${statusField}":${JSON.stringify(lead.status)}}`;
