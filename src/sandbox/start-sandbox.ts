import { createPoster } from '../http/client/poster.ts';
import {
  errorResponse,
  jsonResponse,
  openPlainServer,
  type PlainRequest,
  type PlainResponse,
  isFromThisMachine,
  jsonBytesResponse,
} from '../http/server/plain-server.ts';
import { type Clock, slept } from '../time/clock.ts';
import {
  type ApiOptions,
  defaultApi,
  defaultConcurrency,
  type SandboxOptions,
  withoutUndefined,
} from './sandbox-options.ts';
import { answerListRequest } from './api/list-operation.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { type SandboxDependencies, SandboxState } from './sandbox-state.ts';
import { LeadsError } from '../errors.ts';
import { apiFaults, deliveryFaults, injectedIn, readFaults, showFaults } from './faults.ts';

export type { SandboxOptions } from './sandbox-options.ts';

/** What the sandbox needs from its caller. */
export interface SandboxEnvironment extends Omit<SandboxDependencies, 'poster'> {
  /** Our own authority as PEM, to deliver to receivers on this machine. */
  readonly loopbackCa?: string | undefined;
}

export interface Sandbox {
  /** Base URL of the service, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The first one. */
  readonly apiKey: string;
  /** Leads, faults and records: what the control endpoints show. */
  readonly state: SandboxState;
  readonly leads: SandboxState['leads'];
  /** A new lead, as `POST /sandbox/leads` without a body makes it. */
  addLead(): SandboxLead;
  /** Cuts what is in flight. */
  close(): Promise<void>;
}

const maxBodyBytes = 16 * 1024 * 1024;

/** Starts the service of the specification on this machine; rejects when the port is taken. */
export async function startSandbox(
  options: SandboxOptions,
  { clock, loopbackCa, sentenceOf, observe }: SandboxEnvironment,
): Promise<Sandbox> {
  const api: ApiOptions = {
    ...defaultApi,
    ...withoutUndefined(options),
    params: { ...defaultApi.params, ...withoutUndefined(options.params ?? {}) },
  };
  const { webhooks = [] } = options;
  const poster = createPoster({
    connections: Math.max(...webhooks.map((one) => one.concurrency ?? defaultConcurrency), 1),
    loopbackCa,
    now: () => clock.steady(),
  });
  const state = new SandboxState(options, api, { clock, poster, sentenceOf, observe });
  let url = '';
  const server = await openPlainServer({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    gzip: api.gzip,
    tls: options.tls,
    maxBodyBytes,
    handle: async (request) => {
      // The server leaves out the body of what answers a HEAD.
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const answer = await answerRequest({ ...request, method }, state, url, clock);
      return { ...answer, headers: { date: new Date(clock.now()).toUTCString(), ...answer.headers } };
    },
    onError: (error) => errorResponse(500, 'sandbox_bug', String(error)),
  });
  url = server.url;
  const stop = new AbortController();
  void addRegularly(state, options.everyMs, clock, stop.signal);
  return {
    url,
    port: server.port,
    apiKey: state.apiKeys[0] ?? '',
    state,
    leads: state.leads,
    addLead: () => state.generate(),
    async close() {
      stop.abort();
      state.deliveries.cancel();
      poster.close();
      await server.close();
    },
  };
}

async function answerRequest(
  request: PlainRequest,
  state: SandboxState,
  ownUrl: string,
  clock: Clock,
): Promise<PlainResponse> {
  const { path } = state.api;
  const base = originOfClient(request.headers.host, ownUrl);
  const url = URL.canParse(request.target, base) ? new URL(request.target, base) : undefined;
  if (url?.pathname === path) return answerListRequest(request, url, state, clock);
  const controlled = url && (await answerControlRequest(state, url, request, ownUrl));
  if (controlled !== undefined) return controlled;
  if (url?.pathname === '/') {
    // A receiver stands elsewhere: a delivery that is answered 200 here would be lost.
    return request.method === 'GET'
      ? jsonResponse(200, { service: 'leads sandbox', leads: path })
      : errorResponse(405, 'method_not_allowed', 'Nothing is received here.', { allow: 'GET, HEAD' });
  }
  return errorResponse(404, 'not_found', `Leads are listed at ${path}.`);
}

/** Links to the next page use the host name that the client used: it sends its key to no other origin. */
function originOfClient(host: string | undefined, ownUrl: string): string {
  const origin = `${new URL(ownUrl).protocol}//${host ?? ''}`;
  return URL.canParse(origin) ? origin : ownUrl;
}

async function addRegularly(
  state: SandboxState,
  everyMs: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (everyMs !== undefined && (await slept(clock, everyMs, signal))) state.generate();
}

/** Adds the lead in the body; without a body, as many generated ones as `?count=` says. */
async function addLeads(state: SandboxState, url: URL, request: PlainRequest): Promise<PlainResponse> {
  const body = await request.body();
  if (body === undefined) return errorResponse(413, 'too_large', 'A lead is smaller than this.');
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

function showCurrentFaults({ apiInjector, deliveries }: SandboxState): PlainResponse {
  return jsonResponse(200, {
    api: showFaults(apiInjector.faults),
    deliveries: showFaults(deliveries.faults),
    injected: { api: injectedIn([apiInjector]), deliveries: injectedIn(deliveries.injectors) },
  });
}

/** Replaces the faults of each side that the body names; the other one stays. An invalid body changes nothing. */
async function changeFaults(state: SandboxState, _: URL, request: PlainRequest): Promise<PlainResponse> {
  try {
    const body = asObject(JSON.parse(String(await request.body()))) as Record<string, unknown>;
    const { api, deliveries, ...others } = body;
    const unknown = Object.keys(others)[0];
    if (unknown !== undefined) {
      return errorResponse(400, 'invalid_request', `there is no '${unknown}' to change`);
    }
    const apiNext = api === undefined ? undefined : readFaults(asObject(api), apiFaults);
    if (deliveries !== undefined)
      state.deliveries.setFaults(readFaults(asObject(deliveries), deliveryFaults));
    if (apiNext !== undefined) state.apiInjector.faults = apiNext;
  } catch (error) {
    const message = error instanceof LeadsError ? state.sentenceOf(error) : 'the body must be a JSON object';
    return errorResponse(400, 'invalid_request', message);
  }
  return showCurrentFaults(state);
}

function asObject(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new TypeError('not an object');
}

/** Every attempt of every delivery, oldest first; `?lead=ID` for those of one lead. */
function listAttempts({ deliveries }: SandboxState, url: URL): PlainResponse {
  const leadId = url.searchParams.get('lead');
  const attempts =
    leadId === null ? deliveries.attempts : deliveries.attempts.filter((one) => one.leadId === leadId);
  return sliceResponse(url, attempts.length, (start, end, next) =>
    jsonResponse(200, {
      deliveries: attempts.slice(start, end),
      next,
      total: attempts.length,
      acknowledged: deliveries.acknowledged,
      pending: deliveries.pending,
      paused: deliveries.paused,
    }),
  );
}

/** Every request of the list operation, oldest first. */
function listRequests(state: SandboxState, url: URL): PlainResponse {
  const { entries } = state.requests;
  return sliceResponse(url, entries.length, (start, end, next) =>
    jsonResponse(200, { requests: entries.slice(start, end), next, total: entries.length }),
  );
}

/** Every lead in order of creation: the record in its own bytes, and the state of its delivery. */
function listAllLeads({ leads, deliveries }: SandboxState, url: URL): PlainResponse {
  return sliceResponse(url, leads.size, (start, end, next) => {
    const pieces = leads.slice(start, end).flatMap((lead, i) => {
      const { id, status, seq } = lead;
      const acknowledged = deliveries.isAcknowledged(id);
      const head = JSON.stringify({ id, seq, status, acknowledged }).slice(0, -1);
      return [Buffer.from(`${i === 0 ? '' : ','}${head},"lead":`), lead.text(), Buffer.from('}')];
    });
    const tail = JSON.stringify({ next, total: leads.size }).slice(1);
    const body = Buffer.concat([Buffer.from('{"leads":['), ...pieces, Buffer.from(`],${tail}`)]);
    return jsonBytesResponse(200, body);
  });
}

/** `?after=N&limit=N`, since records may be many. `next` is the `after` of the next request, or null at the end. */
function sliceResponse(
  url: URL,
  total: number,
  respond: (start: number, end: number, next: number | null) => PlainResponse,
): PlainResponse {
  const number = (name: string, fallback: number): number => {
    const text = url.searchParams.get(name);
    return text === null ? fallback : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  };
  const [after, limit] = [number('after', 0), number('limit', 10_000)];
  if (Number.isNaN(after) || !(limit >= 1)) {
    return errorResponse(400, 'invalid_request', 'after and limit must be whole numbers');
  }
  const end = after + limit;
  return respond(after, end, end < total ? end : null);
}

type Endpoint = (
  state: SandboxState,
  url: URL,
  request: PlainRequest,
) => PlainResponse | Promise<PlainResponse>;

/** An endpoint that does one thing and answers with the state after it. */
const action =
  (act: (state: SandboxState) => void): Endpoint =>
  (state) => {
    act(state);
    return jsonResponse(200, {
      leads: state.leads.size,
      pending: state.deliveries.pending,
      paused: state.deliveries.paused,
    });
  };

/** For tests, and for a person with curl, to look into the sandbox and to control it: endpoints by path and method. */
const endpoints: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  '/sandbox/leads': { GET: listAllLeads, POST: addLeads },
  '/sandbox/requests': { GET: listRequests },
  '/sandbox/deliveries': { GET: listAttempts, DELETE: action((state) => state.deliveries.clear()) },
  '/sandbox/deliveries/pause': { POST: action((state) => state.deliveries.pause()) },
  '/sandbox/deliveries/resume': { POST: action((state) => state.deliveries.resume()) },
  '/sandbox/faults': { GET: showCurrentFaults, PUT: changeFaults },
  '/sandbox/reset': { POST: action((state) => state.reset()) },
};

/** The response of a control endpoint; undefined when the path is none of them. */
async function answerControlRequest(
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
