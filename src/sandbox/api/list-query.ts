import { parseIsoTime } from '../../time/time-text.ts';
import type { LeadSet, SandboxLead } from '../data/lead-set.ts';
import type { ApiOptions, ParameterNames } from '../sandbox-options.ts';

/**
 * `limit` is Infinity where the service does not page. Times are in milliseconds since the epoch, with
 * since <= createdAt < until. The page begins after the lead of a cursor, or after so many leads.
 */
export interface ListQuery {
  readonly limit: number;
  readonly status: string | undefined;
  readonly categories: readonly string[];
  readonly since: number;
  readonly until: number;
  readonly from:
    | { readonly kind: 'after'; readonly createdAt: number; readonly seq: number }
    | { readonly kind: 'skip'; readonly count: number };
}

export interface InvalidQuery {
  readonly problem: string;
}

/** Reads the parameters by the names that this sandbox has for them, and ignores all others, as services do. */
export function readListQuery(
  params: URLSearchParams,
  api: ApiOptions,
  leads: LeadSet,
): ListQuery | InvalidQuery {
  const value = (name: keyof ParameterNames): string | undefined => {
    const parameter = api.params[name];
    return parameter === null ? undefined : (params.get(parameter) ?? undefined);
  };
  const limit = readLimit(value('limit'), api);
  const since = readTime(value('since'), -Infinity);
  const until = readTime(value('until'), Infinity);
  const from = readStart(value, api, leads, limit ?? api.defaultLimit);
  if (limit === undefined) return { problem: 'limit must be a whole number from 1' };
  if (since === undefined || until === undefined) {
    return { problem: 'a date must be ISO 8601, or a Unix time in seconds or milliseconds' };
  }
  if ('problem' in from) return from;
  const categories = api.params.category === null ? [] : params.getAll(api.params.category);
  return { limit, status: value('status'), categories, since, until, from };
}

export function matches(lead: SandboxLead, query: ListQuery): boolean {
  return (
    (query.status === undefined || lead.status === query.status) &&
    (query.categories.length === 0 || query.categories.includes(lead.category ?? '')) &&
    lead.createdAt >= query.since &&
    lead.createdAt < query.until
  );
}

export const isUnfiltered = (query: ListQuery): boolean =>
  query.status === undefined &&
  query.categories.length === 0 &&
  query.since === -Infinity &&
  query.until === Infinity;

export const withoutFilters = (query: ListQuery): ListQuery => ({ ...query, ...noFilters });

const noFilters = { status: undefined, categories: [], since: -Infinity, until: Infinity };

/** A place in the order of the leads, which a new lead does not move. */
export const cursorOf = (lead: SandboxLead): string =>
  Buffer.from(`${lead.createdAt}:${lead.seq}`).toString('base64url');

function readLimit(text: string | undefined, api: ApiOptions): number | undefined {
  if (api.pagination === 'none') return Infinity;
  if (text === undefined) return api.defaultLimit;
  return /^[1-9]\d{0,15}$/.test(text) ? Math.min(Number(text), api.maxLimit) : undefined;
}

/** Tells seconds from milliseconds by their digits: 9 to 11 digits of seconds are a time between 1973 and 5138. */
function readTime(text: string | undefined, fallback: number): number | undefined {
  if (text === undefined) return fallback;
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  return /^\d{12,14}$/.test(text) ? Number(text) : parseIsoTime(text);
}

function readStart(
  value: (name: keyof ParameterNames) => string | undefined,
  api: ApiOptions,
  leads: LeadSet,
  limit: number,
): ListQuery['from'] | InvalidQuery {
  const wholeNumber = (text: string, minimum: number): number | undefined =>
    /^\d{1,15}$/.test(text) && Number(text) >= minimum ? Number(text) : undefined;
  const { pagination } = api;
  if (pagination === 'page') {
    const page = wholeNumber(value('page') ?? '1', 1);
    if (page === undefined) return { problem: 'page must be a whole number from 1' };
    return { kind: 'skip', count: (page - 1) * limit };
  }
  if (pagination === 'offset') {
    const offset = wholeNumber(value('offset') ?? '0', 0);
    if (offset === undefined) return { problem: 'offset must be a whole number' };
    return { kind: 'skip', count: offset };
  }
  const cursor = pagination === 'none' ? undefined : value('cursor');
  if (cursor === undefined) return { kind: 'skip', count: 0 };
  const lead = api.next === 'id' ? leads.get(cursor) : undefined;
  if (lead !== undefined) return { kind: 'after', createdAt: lead.createdAt, seq: lead.seq };
  const parts = /^(-?\d+):(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (parts === null) return { problem: 'the cursor is not one of ours' };
  return { kind: 'after', createdAt: Number(parts[1]), seq: Number(parts[2]) };
}
