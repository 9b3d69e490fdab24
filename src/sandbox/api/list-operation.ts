import { errorResponse, type PlainRequest, type PlainResponse } from '../../http/server/plain-server.ts';
import type { Clock } from '../../time/clock.ts';
import { equalInConstantTime } from '../../webhook/crypto/signature.ts';
import type { LeadSet } from '../data/lead-set.ts';
import type { RateLimit } from '../requests.ts';
import type { ApiOptions } from '../sandbox-options.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { readListQuery, withoutFilters } from './list-query.ts';
import { repeatLast, takePage, wrapPage } from './page.ts';
import { drawFaults, type DrawnFaults, transmitWith } from './response-faults.ts';

interface ListRequest {
  readonly method: string;
  /** Absolute, as the client reached us. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

interface ListDependencies {
  readonly leads: LeadSet;
  readonly api: ApiOptions;
  readonly limit: RateLimit;
  /** Called only for requests that would be answered with leads. */
  readonly drawFaults: () => DrawnFaults | undefined;
}

/** The response, and what the request log records of it. */
interface Listed {
  readonly response: PlainResponse;
  /** How many leads the page holds. */
  readonly count: number;
  readonly faults: DrawnFaults | undefined;
}

/** The list operation (specification, section 4.1). */
function listLeads(request: ListRequest, { leads, api, limit, drawFaults }: ListDependencies): Listed {
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

/** Answers one request of the list operation, with the faults that are drawn for it, and logs it. */
export function answerListRequest(
  { method, target, headers }: PlainRequest,
  url: URL,
  state: SandboxState,
  clock: Clock,
): PlainResponse {
  const id = state.requests.nextId();
  const { response, count, faults } = listLeads(
    { method, url, authorization: headers.authorization },
    {
      leads: state.leads,
      api: state.api,
      limit: state.limit,
      drawFaults: () => {
        const drawn = drawFaults(state.apiInjector, state.seed, state.requests.keyOf(target));
        if (drawn.shift) state.generate();
        return drawn;
      },
    },
  );
  const transmission = faults?.transmission;
  state.logRequest({
    id,
    at: new Date(state.now()).toISOString(),
    method,
    target,
    status: transmission?.kind === 'reset' ? null : response.status,
    leads: count,
    faults: faults?.names ?? [],
  });
  return {
    ...response,
    headers: { ...response.headers, 'x-request-id': id },
    transmit: transmission && transmitWith(transmission, clock),
  };
}

type KeyCheck = 'valid' | 'missing' | 'wrong';

/** `Authorization: Bearer <API_KEY>` (specification, section 5), compared in constant time. */
function checkKey(authorization: string | undefined, validKeys: readonly string[]): KeyCheck {
  const sent = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (sent === undefined) return authorization === undefined ? 'missing' : 'wrong';
  const sentBytes = Buffer.from(sent);
  let valid = false;
  // All keys are compared, so that the time does not tell which one it was.
  for (const key of validKeys) valid = equalInConstantTime(Buffer.from(key), sentBytes) || valid;
  return valid ? 'valid' : 'wrong';
}
