import { type Answer, failure } from './answer.ts';
import { envelope } from './envelope.ts';
import { checkKey } from './key.ts';
import type { LeadSet } from './lead-set.ts';
import type { ApiOptions } from './options.ts';
import { takePage } from './page.ts';
import { readQuery } from './query.ts';
import type { RateLimit } from './rate-limit.ts';

export interface ListRequest {
  readonly method: string;
  /** Absolute, as the client reached us. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

/** The list operation (specification, section 4.1). */
export function listLeads(request: ListRequest, leads: LeadSet, api: ApiOptions, limit: RateLimit): Answer {
  if (request.method !== 'GET') {
    return failure(405, 'method_not_allowed', 'Use GET to list leads.', { allow: 'GET' });
  }
  const key = checkKey(request.authorization, api.apiKeys);
  if (key !== 'valid') {
    const message = key === 'missing' ? 'An API key is required.' : 'The API key is not valid.';
    return failure(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' });
  }
  const allowance = limit.take();
  if (!allowance.ok) {
    return failure(429, 'rate_limited', 'Too many requests: retry with backoff.', allowance.headers);
  }
  const query = readQuery(request.url.searchParams, api, leads);
  if ('problem' in query) return failure(400, 'invalid_request', query.problem, allowance.headers);
  const counted = api.totals && (api.pagination === 'page' || api.pagination === 'offset');
  const answer = envelope(takePage(leads, query, api.order, counted), query, request.url, api);
  return { ...answer, headers: { ...answer.headers, ...allowance.headers } };
}
