import { type Answer, failure } from '../../http/server/answer.ts';
import { envelope } from './wrap-page.ts';
import { checkKey } from './check-key.ts';
import type { LeadSet } from '../data/lead-set.ts';
import type { ApiOptions } from './api-options.ts';
import { repeatLast, takePage } from './page.ts';
import { readQuery, withoutFilters } from './query.ts';
import type { RateLimit } from './rate-limit.ts';
import type { DrawnFaults } from './draw-faults.ts';

export interface ListRequest {
  readonly method: string;
  /** Absolute, as the client reached us. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

export interface ListMeans {
  readonly leads: LeadSet;
  readonly api: ApiOptions;
  readonly limit: RateLimit;
  /** Drawn only for requests that would have been answered. */
  readonly trouble: () => DrawnFaults | undefined;
}

/** The answer, and what the truth has to say about it. */
export interface Listed {
  readonly answer: Answer;
  /** How many leads the page holds. */
  readonly count: number;
  readonly trouble: DrawnFaults | undefined;
}

/** The list operation (specification, section 4.1). */
export function listLeads(request: ListRequest, means: ListMeans): Listed {
  const { leads, api } = means;
  const refuse = (answer: Answer): Listed => ({ answer, count: 0, trouble: undefined });
  if (request.method !== 'GET') {
    return refuse(failure(405, 'method_not_allowed', 'Use GET to list leads.', { allow: 'GET' }));
  }
  const key = checkKey(request.authorization, api.apiKeys);
  if (key !== 'valid') {
    const message = key === 'missing' ? 'An API key is required.' : 'The API key is not valid.';
    return refuse(failure(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' }));
  }
  const allowance = means.limit.take();
  const more = (answer: Answer): Answer => ({
    ...answer,
    headers: { ...answer.headers, ...allowance.headers },
  });
  if (!allowance.ok) {
    return refuse(more(failure(429, 'rate_limited', 'Too many requests: retry with backoff.')));
  }
  const asked = readQuery(request.url.searchParams, api, leads);
  if ('problem' in asked) return refuse(more(failure(400, 'invalid_request', asked.problem)));
  const trouble = means.trouble();
  if (trouble?.instead !== undefined) {
    return {
      answer: { ...trouble.instead, headers: { ...allowance.headers, ...trouble.instead.headers } },
      count: 0,
      trouble,
    };
  }
  const query = trouble?.ignoreFilters === true ? withoutFilters(asked) : asked;
  const counted = api.totals && (api.pagination === 'page' || api.pagination === 'offset');
  const taken = takePage(leads, query, api.order, counted);
  const page = trouble?.duplicate === true ? repeatLast(taken, leads, query, api.order) : taken;
  const answer = envelope(page, query, request.url, api, trouble?.repeatCursor === true);
  return { answer: { ...more(answer), wire: trouble?.wire }, count: page.leads.length, trouble };
}
