import {
  errorResponse,
  type PlainRequest,
  type PlainResponse,
  type Transmission,
  type Transmit,
} from '../sandbox-server.ts';
import type { Clock } from '../../time/clock.ts';
import { equalInConstantTime } from '../../webhook/crypto/signature.ts';
import { drawFor } from '../data/seeded-random.ts';
import type { ApiFault, DrawnFault } from '../faults.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { readListQuery, withoutFilters } from './list-query.ts';
import { nextPage, repeatPrevious, samePage, takePage, wrapPage } from './page.ts';

interface ListAnswer {
  readonly response: PlainResponse;
  readonly leads?: number;
  readonly faults?: readonly ApiFault[];
}

export function answerListRequest(
  request: PlainRequest,
  url: URL,
  state: SandboxState,
  clock: Clock,
): PlainResponse {
  const { method, target } = request;
  const id = `req_${String(state.requests.length + 1).padStart(6, '0')}`;
  const { response, leads = 0, faults = [] } = listLeads(request, url, state, clock);
  const status = faults.includes('reset') ? null : response.status;
  state.logRequest({ id, at: new Date(state.now()).toISOString(), method, target, status, leads, faults });
  return { ...response, headers: { ...response.headers, 'x-request-id': id } };
}

function listLeads(request: PlainRequest, url: URL, state: SandboxState, clock: Clock): ListAnswer {
  const { method, target, headers } = request;
  const rejection = rejectUnauthorized(method, headers.authorization, state);
  if (rejection !== undefined) return { response: rejection };
  const { ok, headers: limitHeaders } = state.takeFromLimit();
  if (!ok) return { response: tooManyRequests(limitHeaders) };
  const { api, apiInjector, leads } = state;
  const requestedQuery = readListQuery(url.searchParams, api, leads);
  if ('problem' in requestedQuery) {
    return { response: errorResponse(400, 'invalid_request', requestedQuery.problem, limitHeaders) };
  }
  const key = state.requestKey(target);
  const error = apiInjector.drawFirst(['status500', 'status429', 'status503'], key);
  if (error !== undefined) {
    const response = failedResponse(error.name, error.fault.amountMs ?? 1000, limitHeaders);
    return { response, faults: [error.name] };
  }
  const sendingFault = apiInjector.drawFirst(['reset', 'truncate', 'slow'], key);
  const pageFaults = (['shift', 'ignoredFilters', 'repeatedCursor', 'duplicate'] as const).filter(
    (name) => apiInjector.draw(name, key) !== undefined,
  );
  if (pageFaults.includes('shift')) state.generate();
  const query = pageFaults.includes('ignoredFilters') ? withoutFilters(requestedQuery) : requestedQuery;
  const wholePage = takePage(leads.all, query, api.order);
  const page = pageFaults.includes('duplicate') ? repeatPrevious(wholePage) : wholePage;
  const next = nextPage(wholePage, query, url, api);
  const repeated = next && pageFaults.includes('repeatedCursor') ? samePage(url, api) : undefined;
  const { headers: pageHeaders, ...response } = wrapPage(page, repeated ?? next, query, api);
  return {
    response: {
      ...response,
      headers: { ...limitHeaders, ...pageHeaders },
      transmit: sendingFault && transmissionFault(sendingFault, state.seed, key, clock),
    },
    leads: page.leads.length,
    faults: [...(sendingFault ? [sendingFault.name] : []), ...pageFaults],
  };
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
  const sentKey = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (sentKey === undefined) return false;
  const sentBytes = Buffer.from(sentKey);
  // All keys are compared, so that the time does not tell which key matched.
  return validKeys.filter((key) => equalInConstantTime(Buffer.from(key), sentBytes)).length > 0;
}

type Headers = Readonly<Record<string, string>>;

const tooManyRequests = (headers: Headers): PlainResponse =>
  errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.', headers);

function failedResponse(
  fault: 'status500' | 'status429' | 'status503',
  retryAfterMs: number,
  headers: Headers,
): PlainResponse {
  const withRetryAfter = { ...headers, 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  switch (fault) {
    case 'status429':
      return tooManyRequests(withRetryAfter);
    case 'status503':
      return errorResponse(503, 'unavailable', 'The service is down for a moment.', withRetryAfter);
    case 'status500':
      return errorResponse(500, 'internal_error', 'Something went wrong on our side.', headers);
  }
}

/**
 * The connection ends by a TCP reset before the response; or the body ends in its middle, with its length, in
 * chunks, or without either; or it is slow.
 */
function transmissionFault(
  { name, fault }: DrawnFault<'reset' | 'truncate' | 'slow'>,
  seed: number,
  key: string,
  clock: Clock,
): Transmit {
  switch (name) {
    case 'reset':
      return reset;
    case 'truncate': {
      const framing = framings[Math.floor(drawFor(seed, `framing ${key}`) * framings.length)] ?? 'close';
      return (transmission) => truncate(transmission, framing);
    }
    case 'slow':
      return (transmission) => sendSlowly(transmission, fault.amountMs ?? 1000, clock);
  }
}

const framings = ['length', 'chunked', 'close'] as const;

/** TLS cannot send a reset, so the connection is closed without a response. */
function reset({ request: { socket } }: Transmission): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function truncate(
  { request, response, status, headers, body }: Transmission,
  framing: (typeof framings)[number],
): void {
  if (framing === 'close') response.useChunkedEncodingByDefault = false;
  response.writeHead(status, {
    ...headers,
    ...(framing === 'length' && { 'content-length': body.length }),
    ...(framing === 'close' && { connection: 'close' }),
  });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => request.socket.end());
}

const slowPieces = 10;

async function sendSlowly(
  { response, status, headers, body, signal }: Transmission,
  overMs: number,
  clock: Clock,
): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  const step = Math.ceil(body.length / slowPieces);
  for (let start = 0; start < body.length; start += step) {
    response.write(body.subarray(start, start + step));
    await clock.sleep(overMs / slowPieces, signal);
  }
  response.end();
}
