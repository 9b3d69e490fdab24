import {
  errorResponse,
  type SandboxRequest,
  type SandboxResponse,
  type Transmission,
  type Transmit,
} from '../sandbox-server.ts';
import type { Clock } from '../../time/clock.ts';
import { drawFor } from '../data/seeded-random.ts';
import type { ApiFault, DrawnFault } from '../faults.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { readListQuery, withoutFilters } from './list-query.ts';
import { nextPage, repeatPrevious, takePage, thisPageAsNext, wrapPage } from './page.ts';

interface ListAnswer {
  readonly response: SandboxResponse;
  readonly leads?: number;
  readonly faults?: readonly ApiFault[];
}

/** Answers and logs one request of the list operation (specification, section 4.1). */
export function answerListRequest(request: SandboxRequest, url: URL, state: SandboxState): SandboxResponse {
  const { method, target } = request;
  const id = `req_${String(state.requests.length + 1).padStart(6, '0')}`;
  const { response, leads = 0, faults = [] } = listLeads(request, url, state);
  const status = faults.includes('reset') ? null : response.status;
  const time = new Date(state.clock.now()).toISOString();
  state.logRequest({ id, at: time, method, target, status, leads, faults });
  return { ...response, headers: { ...response.headers, 'x-request-id': id } };
}

function listLeads({ method, target, headers }: SandboxRequest, url: URL, state: SandboxState): ListAnswer {
  const rejection = rejectMethodOrKey(method, headers.authorization, state);
  if (rejection !== undefined) return { response: rejection };
  const limit = state.admitRequest();
  const { response, ...log } = limit.isAdmitted
    ? answerQuery(target, url, state)
    : { response: tooManyRequests() };
  return { response: { ...response, headers: { ...limit.headers, ...response.headers } }, ...log };
}

/** Draws the faults of the request: an error in place of the page, a wrong page, and a fault of its sending. */
function answerQuery(target: string, url: URL, state: SandboxState): ListAnswer {
  const { api, apiInjector, leads } = state;
  const requestedQuery = readListQuery(url.searchParams, api, leads);
  if ('problem' in requestedQuery) {
    return { response: errorResponse(400, 'invalid_request', requestedQuery.problem) };
  }
  const key = state.nextFaultKey(target);
  const error = apiInjector.drawFirst(['status500', 'status429'], key);
  if (error !== undefined) return { response: errorFault(error), faults: [error.name] };
  const sendingFault = apiInjector.drawFirst(['reset', 'truncate', 'slow'], key);
  // The log names faults as they were drawn, also where the page left nothing to alter.
  const pageFaults = (['shift', 'ignoredFilters', 'repeatedCursor', 'duplicate'] as const).filter(
    (name) => apiInjector.draw(name, key) !== undefined,
  );
  // With the newest first, a new lead moves all others by one position.
  if (pageFaults.includes('shift')) state.generate();
  const query = pageFaults.includes('ignoredFilters') ? withoutFilters(requestedQuery) : requestedQuery;
  const rightPage = takePage(leads.all, query, api.order);
  const page = pageFaults.includes('duplicate') ? repeatPrevious(rightPage) : rightPage;
  const rightNext = nextPage(rightPage, query, url, api);
  const repeatsCursor = rightNext !== undefined && pageFaults.includes('repeatedCursor');
  const next = (repeatsCursor ? thisPageAsNext(url, api) : undefined) ?? rightNext;
  return {
    response: {
      ...wrapPage(page, next, query, api),
      transmit: sendingFault && transmissionFault(sendingFault, key, state),
    },
    leads: page.leads.length,
    faults: [...(sendingFault ? [sendingFault.name] : []), ...pageFaults],
  };
}

function rejectMethodOrKey(
  method: string,
  authorization: string | undefined,
  { apiKeys }: SandboxState,
): SandboxResponse | undefined {
  if (method !== 'GET') {
    return errorResponse(405, 'method_not_allowed', 'Use GET to list leads.', { allow: 'GET, HEAD' });
  }
  // `Authorization: Bearer <API_KEY>` (specification, section 5).
  const sentKey = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (sentKey !== undefined && apiKeys.includes(sentKey)) return undefined;
  const message = authorization === undefined ? 'An API key is required.' : 'The API key is not valid.';
  return errorResponse(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' });
}

const tooManyRequests = (headers?: SandboxResponse['headers']): SandboxResponse =>
  errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.', headers);

const defaultWaitMs = 1000;

function errorFault({ name, fault }: DrawnFault<'status500' | 'status429'>): SandboxResponse {
  if (name === 'status500') return errorResponse(500, 'internal_error', 'Something went wrong on our side.');
  const waitSeconds = Math.ceil((fault.amountMs ?? defaultWaitMs) / 1000);
  return tooManyRequests({ 'retry-after': String(waitSeconds) });
}

function transmissionFault(
  { name, fault }: DrawnFault<'reset' | 'truncate' | 'slow'>,
  key: string,
  { seed, clock }: SandboxState,
): Transmit {
  switch (name) {
    case 'reset':
      return ({ request }) => void request.socket.resetAndDestroy();
    case 'truncate': {
      const framing = framings[Math.floor(drawFor(seed, `framing ${key}`) * framings.length)] ?? 'close';
      return (transmission) => truncate(transmission, framing);
    }
    case 'slow':
      return (transmission) => sendSlowly(transmission, fault.amountMs ?? defaultWaitMs, clock);
  }
}

/** A body that is cut in its middle has one of these signs of its end; `close` is the end of the connection alone. */
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
  durationMs: number,
  clock: Clock,
): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  const pieceLength = Math.ceil(body.length / slowPieces);
  for (let start = 0; start < body.length; start += pieceLength) {
    response.write(body.subarray(start, start + pieceLength));
    await clock.sleep(durationMs / slowPieces, signal);
  }
  response.end();
}
