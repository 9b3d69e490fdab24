import { errorResponse, type PlainRequest, type PlainResponse } from '../../http/server/plain-server.ts';
import type { Clock } from '../../time/clock.ts';
import { equalInConstantTime } from '../../webhook/crypto/signature.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { readListQuery, withoutFilters } from './list-query.ts';
import { repeatLast, takePage, wrapPage } from './page.ts';
import { drawFaults, type DrawnFaults } from './response-faults.ts';

/** Answers one request of the list operation from the account of its key, with the faults that are drawn for it, and logs it. */
export function answerListRequest(
  request: PlainRequest,
  url: URL,
  accounts: readonly [SandboxState, ...SandboxState[]],
  clock: Clock,
): PlainResponse {
  const { method, target, headers } = request;
  const isOwn = ({ apiKeys }: SandboxState): boolean => isValidKey(headers.authorization ?? '', apiKeys);
  const state = accounts.find(isOwn) ?? accounts[0];
  const id = state.requests.nextId();
  const { response, leads = 0, faults } = listLeads(request, url, state, clock);
  state.logRequest({
    id,
    at: new Date(state.now()).toISOString(),
    method,
    target,
    status: faults?.names.includes('reset') === true ? null : response.status,
    leads,
    faults: faults?.names ?? [],
  });
  return {
    ...response,
    headers: { ...response.headers, 'x-request-id': id },
    transmit: faults?.transmit,
  };
}

/** The response, and what the request log records of it. */
interface Listed {
  readonly response: PlainResponse;
  /** How many leads the page holds. */
  readonly leads?: number;
  readonly faults?: DrawnFaults;
}

/** The list operation (specification, section 4.1). */
function listLeads(
  { method, target, headers }: PlainRequest,
  url: URL,
  state: SandboxState,
  clock: Clock,
): Listed {
  const { api, leads, limit } = state;
  const rejection = rejectUnauthorized(method, headers.authorization, state);
  if (rejection !== undefined) return { response: rejection };
  const allowance = limit.take();
  const withLimitHeaders = (response: PlainResponse): PlainResponse => ({
    ...response,
    headers: { ...response.headers, ...allowance.headers },
  });
  if (!allowance.ok) {
    const limited = errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.');
    return { response: withLimitHeaders(limited) };
  }
  const requested = readListQuery(url.searchParams, api, leads);
  if ('problem' in requested) {
    return { response: withLimitHeaders(errorResponse(400, 'invalid_request', requested.problem)) };
  }
  const faults = drawFaults(state.apiInjector, state.seed, state.requests.keyOf(target), clock);
  const isDrawn = (name: DrawnFaults['names'][number]): boolean => faults.names.includes(name);
  if (isDrawn('shift')) state.generate();
  if (faults.error !== undefined) {
    // Its own wait counts.
    const { error } = faults;
    return { response: { ...error, headers: { ...allowance.headers, ...error.headers } }, faults };
  }
  const query = isDrawn('ignoredFilters') ? withoutFilters(requested) : requested;
  const countTotal = api.totals && (api.pagination === 'page' || api.pagination === 'offset');
  const taken = takePage(leads, query, api.order, countTotal);
  const page = isDrawn('duplicate') ? repeatLast(taken, leads, query, api.order) : taken;
  const response = wrapPage(page, query, url, api, isDrawn('repeatedCursor'));
  return { response: withLimitHeaders(response), leads: page.leads.length, faults };
}

function rejectUnauthorized(
  method: string,
  authorization: string | undefined,
  { apiKeys }: SandboxState,
): PlainResponse | undefined {
  if (method !== 'GET') {
    return errorResponse(405, 'method_not_allowed', 'Use GET to list leads.', { allow: 'GET, HEAD' });
  }
  if (authorization !== undefined && isValidKey(authorization, apiKeys)) return undefined;
  const message = authorization === undefined ? 'An API key is required.' : 'The API key is not valid.';
  return errorResponse(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' });
}

/** `Authorization: Bearer <API_KEY>` (specification, section 5), compared in constant time. */
function isValidKey(authorization: string, validKeys: readonly string[]): boolean {
  const sent = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (sent === undefined) return false;
  const sentBytes = Buffer.from(sent);
  // All keys are compared, so that the time does not tell which one it was.
  return validKeys.filter((key) => equalInConstantTime(Buffer.from(key), sentBytes)).length > 0;
}
