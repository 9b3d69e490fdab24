import {
  errorResponse,
  type PlainRequest,
  type PlainResponse,
  type Transmission,
  type Transmit,
} from '../sandbox-server.ts';
import type { Clock } from '../../time/clock.ts';
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
  const rejection = rejectMethodOrKey(method, headers.authorization, state);
  if (rejection !== undefined) return { response: rejection };
  const { ok, headers: limitHeaders } = state.takeFromLimit();
  if (!ok) return { response: tooManyRequests(limitHeaders) };
  const { api, apiInjector, leads } = state;
  const requestedQuery = readListQuery(url.searchParams, api, leads);
  if ('problem' in requestedQuery) {
    return { response: errorResponse(400, 'invalid_request', requestedQuery.problem, limitHeaders) };
  }
  const key = state.requestKey(target);
  const error = apiInjector.drawFirst(['status500', 'status429'], key);
  if (error !== undefined) {
    const retryAfter = String(Math.ceil((error.fault.amountMs ?? 1000) / 1000));
    const response =
      error.name === 'status500'
        ? errorResponse(500, 'internal_error', 'Something went wrong on our side.', limitHeaders)
        : tooManyRequests({ ...limitHeaders, 'retry-after': retryAfter });
    return { response, faults: [error.name] };
  }
  const sendingFault = apiInjector.drawFirst(['reset', 'truncate', 'slow'], key);
  // The log names faults as they were drawn, also where the page left nothing to alter.
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

function rejectMethodOrKey(
  method: string,
  authorization: string | undefined,
  { apiKeys }: SandboxState,
): PlainResponse | undefined {
  if (method !== 'GET') {
    return errorResponse(405, 'method_not_allowed', 'Use GET to list leads.', { allow: 'GET, HEAD' });
  }
  // `Authorization: Bearer <API_KEY>` (specification, section 5).
  const sentKey = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (sentKey !== undefined && apiKeys.includes(sentKey)) return undefined;
  const message = authorization === undefined ? 'An API key is required.' : 'The API key is not valid.';
  return errorResponse(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' });
}

type Headers = Readonly<Record<string, string>>;

const tooManyRequests = (headers: Headers): PlainResponse =>
  errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.', headers);

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
      return ({ request }) => void request.socket.resetAndDestroy();
    case 'truncate': {
      const framing = framings[Math.floor(drawFor(seed, `framing ${key}`) * framings.length)] ?? 'close';
      return (transmission) => truncate(transmission, framing);
    }
    case 'slow':
      return (transmission) => sendSlowly(transmission, fault.amountMs ?? 1000, clock);
  }
}

const framings = ['length', 'chunked', 'close'] as const;

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
