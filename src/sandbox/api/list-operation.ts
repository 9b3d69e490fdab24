import type { Socket } from 'node:net';
import {
  errorResponse,
  type PlainRequest,
  type PlainResponse,
  type Transmission,
  type Transmit,
} from '../../http/server/plain-server.ts';
import type { Clock } from '../../time/clock.ts';
import { equalInConstantTime } from '../../webhook/crypto/signature.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { readListQuery, withoutFilters } from './list-query.ts';
import { repeatLast, takePage, wrapPage } from './page.ts';
import { drawFor } from '../data/seeded-random.ts';
import type { ApiFault, FaultInjector } from '../faults.ts';

/** Answers one request of the list operation, with the faults that are drawn for it, and logs it. */
export function answerListRequest(
  request: PlainRequest,
  url: URL,
  state: SandboxState,
  clock: Clock,
): PlainResponse {
  const { method, target } = request;
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

/** What goes wrong with one response of the list operation. */
interface DrawnFaults {
  readonly names: readonly ApiFault[];
  /** Sent instead of the list. */
  readonly error: PlainResponse | undefined;
  /** How the bytes of the response are sent. */
  readonly transmit: Transmit | undefined;
}

/** `key` names the request, so that the order in which requests arrive does not matter. */
function drawFaults(injector: FaultInjector<ApiFault>, seed: number, key: string, clock: Clock): DrawnFaults {
  const error = injector.drawFirst(['status500', 'status429', 'status503'], key);
  if (error !== undefined) {
    return { names: [error.name], error: errorFor(error.name, error.fault.amountMs), transmit: undefined };
  }
  const sending = injector.drawFirst(['reset', 'truncate', 'slow'], key);
  const inPage = (['shift', 'ignoredFilters', 'repeatedCursor', 'duplicate'] as const).filter(
    (name) => injector.draw(name, key) !== undefined,
  );
  return {
    names: [...(sending ? [sending.name] : []), ...inPage],
    error: undefined,
    transmit:
      sending && transmitWith(sending.name, sending.fault.amountMs, drawFor(seed, `framing ${key}`), clock),
  };
}

function errorFor(name: 'status500' | 'status429' | 'status503', retryAfterMs = 1000): PlainResponse {
  const retryAfter = { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  switch (name) {
    case 'status429':
      return errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.', retryAfter);
    case 'status503':
      return errorResponse(503, 'unavailable', 'The service is down for a moment.', retryAfter);
    case 'status500':
      return errorResponse(500, 'internal_error', 'Something went wrong on our side.');
  }
}

/**
 * The connection is reset before the first byte of a response; or the body ends in its middle, with its length announced,
 * in chunks, or delimited by the end of the connection alone, as `draw` in [0, 1) chooses; or it comes slowly.
 */
function transmitWith(
  fault: 'reset' | 'truncate' | 'slow',
  overMs: number | undefined,
  draw: number,
  clock: Clock,
): Transmit {
  switch (fault) {
    case 'reset':
      return ({ request }) => reset(request.socket);
    case 'truncate': {
      const framing = draw < 1 / 3 ? 'length' : draw < 2 / 3 ? 'chunked' : 'close';
      return (transmission) => truncate(transmission, framing);
    }
    case 'slow':
      return (transmission) => sendSlowly(transmission, overMs ?? 1000, clock);
  }
}

/** A TCP reset; below TLS, where none can be sent, the connection is closed without an answer. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function truncate(
  { request, response, status, headers, body }: Transmission,
  framing: 'length' | 'chunked' | 'close',
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
