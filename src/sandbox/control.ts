import {
  errorResponse,
  isFromThisMachine,
  jsonTextResponse,
  jsonResponse,
  type PlainRequest,
  type PlainResponse,
} from './sandbox-server.ts';
import { LeadsError, UsageError } from '../errors.ts';
import { apiFaults, deliveryFaults, readFaults } from './faults.ts';
import type { SandboxState } from './sandbox-state.ts';

type Endpoint = (
  state: SandboxState,
  url: URL,
  request: PlainRequest,
) => PlainResponse | Promise<PlainResponse>;

/** Endpoints by path and method, for tests and for a person with curl. */
const endpoints: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  '/sandbox/leads': { GET: listAllLeads, POST: addLead },
  '/sandbox/deliveries': { GET: listAttempts },
  '/sandbox/faults': { PUT: changeFaults },
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

/** Adds the lead in the body, or a generated one where there is no body. */
async function addLead(state: SandboxState, _: URL, request: PlainRequest): Promise<PlainResponse> {
  const body = await request.body();
  const isEmpty = body.toString('latin1').trim() === '';
  const added = isEmpty ? state.generate() : state.add(body);
  if (!('problem' in added)) return jsonResponse(201, { id: added.id });
  return added.taken === true
    ? errorResponse(409, 'taken', added.problem)
    : errorResponse(400, 'not_a_lead', added.problem);
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
  return { status: 204, headers: {}, body: Buffer.alloc(0) };
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
    }),
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
