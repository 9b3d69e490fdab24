import {
  errorResponse,
  isFromThisMachine,
  jsonTextResponse,
  jsonResponse,
  type PlainRequest,
  type PlainResponse,
} from './sandbox-server.ts';
import { LeadsError, UsageError } from '../errors.ts';
import { apiFaults, deliveryFaults, readFaults, showFaults } from './faults.ts';
import type { SandboxState } from './sandbox-state.ts';

type Endpoint = (
  state: SandboxState,
  url: URL,
  request: PlainRequest,
) => PlainResponse | Promise<PlainResponse>;

/** Endpoints by path and method, for tests and for a person with curl. */
const endpoints: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  '/sandbox/leads': { GET: listAllLeads, POST: addLeads },
  '/sandbox/requests': { GET: listRequests },
  '/sandbox/deliveries': { GET: listAttempts },
  '/sandbox/deliveries/pause': { POST: (state) => setPaused(state, true) },
  '/sandbox/deliveries/resume': { POST: (state) => setPaused(state, false) },
  '/sandbox/faults': { GET: showCurrentFaults, PUT: changeFaults },
};

export async function answerControlRequest(
  state: SandboxState,
  url: URL,
  request: PlainRequest,
  ownOrigin: string,
): Promise<PlainResponse | undefined> {
  const methods = endpoints[url.pathname];
  if (methods === undefined) return undefined;
  if (!isFromThisMachine(request, ownOrigin)) {
    return errorResponse(403, 'forbidden', 'Only programs on this machine may do this.');
  }
  const endpoint = methods[request.method];
  if (endpoint === undefined) {
    const allow = Object.keys(methods).join(', ');
    return errorResponse(405, 'method_not_allowed', `This takes ${allow}.`, { allow });
  }
  return endpoint(state, url, request);
}

/** Adds the lead in the body; without a body, the number of generated leads in `?count=`. */
async function addLeads(state: SandboxState, url: URL, request: PlainRequest): Promise<PlainResponse> {
  const body = await request.body();
  if (body.toString('latin1').trim() !== '') {
    const added = state.add(body);
    if (!('problem' in added)) return jsonResponse(201, { ids: [added.id] });
    return added.taken === true
      ? errorResponse(409, 'taken', added.problem)
      : errorResponse(400, 'not_a_lead', added.problem);
  }
  const count = url.searchParams.get('count') ?? '1';
  if (!/^[1-9]\d{0,5}$/.test(count)) {
    return errorResponse(400, 'invalid_request', 'count must be a whole number from 1 to 999999');
  }
  return jsonResponse(201, { ids: Array.from({ length: Number(count) }, () => state.generate().id) });
}

function setPaused({ deliveries }: SandboxState, isPaused: boolean): PlainResponse {
  if (isPaused) deliveries.pause();
  else deliveries.resume();
  return jsonResponse(200, { pending: deliveries.pending, paused: deliveries.paused });
}

function showCurrentFaults({ apiInjector, deliveries }: SandboxState): PlainResponse {
  return jsonResponse(200, {
    api: showFaults(apiInjector.faults),
    deliveries: showFaults(deliveries.injector.faults),
    injected: { api: apiInjector.counts, deliveries: deliveries.injector.counts },
  });
}

/**
 * Replaces the faults of each side that the body names, and keeps those of the other side. An invalid body
 * changes nothing.
 */
async function changeFaults(state: SandboxState, _: URL, request: PlainRequest): Promise<PlainResponse> {
  try {
    const body = asObject(JSON.parse(String(await request.body())));
    const { api, deliveries, ...unknownSides } = body;
    const [unknownSide] = Object.keys(unknownSides);
    if (unknownSide !== undefined) throw new UsageError(`there is no '${unknownSide}' to change`);
    const forApi = api === undefined ? undefined : readFaults(asObject(api), apiFaults);
    if (deliveries !== undefined) {
      state.deliveries.setFaults(readFaults(asObject(deliveries), deliveryFaults));
    }
    if (forApi !== undefined) state.apiInjector.faults = forApi;
  } catch (error) {
    const message = error instanceof LeadsError ? error.message : 'the body must be a JSON object';
    return errorResponse(400, 'invalid_request', message);
  }
  return showCurrentFaults(state);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new TypeError('not an object');
}

function listAttempts({ deliveries }: SandboxState, url: URL): PlainResponse {
  const { attempts } = deliveries;
  return sliceResponse(url, attempts.length, (start, end, next) =>
    jsonResponse(200, {
      deliveries: attempts.slice(start, end),
      next,
      total: attempts.length,
      acknowledged: deliveries.acknowledged.size,
      pending: deliveries.pending,
      paused: deliveries.paused,
    }),
  );
}

function listRequests({ requests }: SandboxState, url: URL): PlainResponse {
  return sliceResponse(url, requests.length, (start, end, next) =>
    jsonResponse(200, { requests: requests.slice(start, end), next, total: requests.length }),
  );
}

/** In order of creation: the record in its own text, and the state of its delivery. */
function listAllLeads({ leads: { all }, deliveries }: SandboxState, url: URL): PlainResponse {
  return sliceResponse(url, all.length, (start, end, next) => {
    const records = all.slice(start, end).map((lead) => {
      const { id, status, seq } = lead;
      const acknowledged = deliveries.acknowledged.has(id);
      return `${JSON.stringify({ id, seq, status, acknowledged }).slice(0, -1)},"lead":${lead.text()}}`;
    });
    return jsonTextResponse(200, `{"leads":[${records.join(',')}],"next":${next},"total":${all.length}}`);
  });
}

/**
 * `?after=N&limit=N`, since records may be many. `next` is the `after` of the next request, or null at the end.
 */
function sliceResponse(
  url: URL,
  total: number,
  respond: (start: number, end: number, next: number | null) => PlainResponse,
): PlainResponse {
  const number = (name: string, otherwise: number): number => {
    const text = url.searchParams.get(name);
    return text === null ? otherwise : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  };
  const [after, limit] = [number('after', 0), number('limit', 10_000)];
  if (Number.isNaN(after) || !(limit >= 1)) {
    return errorResponse(400, 'invalid_request', 'after and limit must be whole numbers');
  }
  const end = after + limit;
  return respond(after, end, end < total ? end : null);
}
