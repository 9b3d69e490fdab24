import { errorResponse, type PlainResponse } from '../../http/server/plain-response.ts';
import type { LeadSet } from '../data/lead-set.ts';
import type { ApiOptions } from './api-options.ts';
import { checkKey } from './check-key.ts';
import type { DrawnFaults } from './draw-faults.ts';
import { readListQuery, withoutFilters } from './list-query.ts';
import type { RateLimit } from './rate-limit.ts';
import { repeatLast, takePage } from './take-page.ts';
import { wrapPage } from './wrap-page.ts';

export interface ListRequest {
  readonly method: string;
  /** Absolute, as the client reached us. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

export interface ListDependencies {
  readonly leads: LeadSet;
  readonly api: ApiOptions;
  readonly limit: RateLimit;
  /** Called only for requests that would be answered with leads. */
  readonly drawFaults: () => DrawnFaults | undefined;
}

/** The response, and what the request log records of it. */
export interface Listed {
  readonly response: PlainResponse;
  /** How many leads the page holds. */
  readonly count: number;
  readonly faults: DrawnFaults | undefined;
}

/** The list operation (specification, section 4.1). */
export function listLeads(request: ListRequest, { leads, api, limit, drawFaults }: ListDependencies): Listed {
  const rejection = rejectUnauthorized(request, api);
  if (rejection !== undefined) return withoutLeads(rejection);
  const allowance = limit.take();
  const withLimitHeaders = (response: PlainResponse): PlainResponse => ({
    ...response,
    headers: { ...response.headers, ...allowance.headers },
  });
  if (!allowance.ok) {
    const limited = errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.');
    return withoutLeads(withLimitHeaders(limited));
  }
  const requested = readListQuery(request.url.searchParams, api, leads);
  if ('problem' in requested) {
    return withoutLeads(withLimitHeaders(errorResponse(400, 'invalid_request', requested.problem)));
  }
  const faults = drawFaults();
  if (faults?.error !== undefined) {
    const { error } = faults;
    return {
      response: { ...error, headers: { ...allowance.headers, ...error.headers } },
      count: 0,
      faults,
    };
  }
  const query = faults?.ignoreFilters === true ? withoutFilters(requested) : requested;
  const countTotal = api.totals && (api.pagination === 'page' || api.pagination === 'offset');
  const taken = takePage(leads, query, api.order, countTotal);
  const page = faults?.duplicate === true ? repeatLast(taken, leads, query, api.order) : taken;
  const response = wrapPage(page, query, request.url, api, faults?.repeatCursor === true);
  return { response: withLimitHeaders(response), count: page.leads.length, faults };
}

const withoutLeads = (response: PlainResponse): Listed => ({ response, count: 0, faults: undefined });

function rejectUnauthorized({ method, authorization }: ListRequest, api: ApiOptions) {
  if (method !== 'GET') {
    return errorResponse(405, 'method_not_allowed', 'Use GET to list leads.', { allow: 'GET' });
  }
  const key = checkKey(authorization, api.apiKeys);
  if (key === 'valid') return undefined;
  const message = key === 'missing' ? 'An API key is required.' : 'The API key is not valid.';
  return errorResponse(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' });
}
