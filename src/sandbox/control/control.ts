import { LeadsError } from '../../errors.ts';
import { type Answer, failure, json } from '../../http/server/answer.ts';
import { apiFaults, deliveryFaults, readFaults, showFaults } from '../faults.ts';
import { rejectRemote } from '../../http/server/local-only.ts';
import type { Incoming } from '../../http/server/plain-server.ts';
import type { SandboxState } from '../state.ts';
import { deliveriesTruth, leadsTruth, requestsTruth } from './recorded-truth.ts';

type Endpoint = (state: SandboxState, url: URL, request: Incoming) => Answer | Promise<Answer>;

/** What a test, or a person with curl, can ask and tell the sandbox itself. */
const endpoints: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  '/openapi.json': {
    GET: async (state, url) => {
      const { openapi } = await import('../openapi/document.ts');
      return json(200, openapi(state.api, url.origin, state.credentialHeaders));
    },
  },
  '/sandbox/leads': { GET: leadsTruth, POST: addLeads },
  '/sandbox/requests': { GET: requestsTruth },
  '/sandbox/deliveries': {
    GET: deliveriesTruth,
    DELETE: (state) => {
      state.deliveries.clear();
      return done(state);
    },
  },
  '/sandbox/deliveries/pause': {
    POST: (state) => {
      state.deliveries.pause();
      return done(state);
    },
  },
  '/sandbox/deliveries/resume': {
    POST: (state) => {
      state.deliveries.resume();
      return done(state);
    },
  },
  '/sandbox/faults': { GET: faultsInForce, PUT: changeFaults },
  '/sandbox/reset': {
    POST: (state) => {
      state.reset();
      return done(state);
    },
  },
};

/** The answer of a control endpoint; undefined when the path is none of them. */
export async function control(
  state: SandboxState,
  url: URL,
  request: Incoming,
  ownOrigin: string,
): Promise<Answer | undefined> {
  const methods = endpoints[url.pathname];
  if (methods === undefined) return undefined;
  const refusal = rejectRemote(request, ownOrigin);
  if (refusal !== undefined) return refusal;
  const endpoint = methods[request.method];
  if (endpoint === undefined) {
    const allow = Object.keys(methods).join(', ');
    return failure(405, 'method_not_allowed', `This takes ${allow}.`, { allow });
  }
  return endpoint(state, url, request);
}

const done = (state: SandboxState): Answer =>
  json(200, {
    leads: state.leads.size,
    pending: state.deliveries.pending,
    paused: state.deliveries.paused,
  });

async function addLeads(state: SandboxState, url: URL, request: Incoming): Promise<Answer> {
  const body = await request.body();
  if (body === undefined) return failure(413, 'too_large', 'A lead is smaller than this.');
  if (body.toString('latin1').trim() !== '') {
    const added = state.add(body);
    if (!('problem' in added)) return json(201, { ids: [added.id] });
    return added.taken === true
      ? failure(409, 'taken', added.problem)
      : failure(400, 'not_a_lead', added.problem);
  }
  const count = url.searchParams.get('count') ?? '1';
  if (!/^[1-9]\d{0,5}$/.test(count)) {
    return failure(400, 'invalid_request', 'count must be a whole number from 1 to 999999');
  }
  return json(201, { ids: Array.from({ length: Number(count) }, () => state.generate().id) });
}

function faultsInForce(state: SandboxState): Answer {
  return json(200, {
    api: showFaults(state.apiChaos.faults),
    deliveries: showFaults(state.deliveryChaos.faults),
    injected: {
      api: Object.fromEntries(state.apiChaos.injected),
      deliveries: Object.fromEntries(state.deliveryChaos.injected),
    },
  });
}

/** Replaces the faults of each side that is named; the other one stays. */
async function changeFaults(state: SandboxState, _: URL, request: Incoming): Promise<Answer> {
  try {
    const given = asObject(JSON.parse(String(await request.body())));
    const { api, deliveries, ...strays } = given as Record<string, unknown>;
    const stray = Object.keys(strays)[0];
    if (stray !== undefined) return failure(400, 'invalid_request', `there is no '${stray}' to change`);
    const next = api === undefined ? undefined : readFaults(asObject(api), apiFaults);
    if (deliveries !== undefined) state.setDeliveryFaults(readFaults(asObject(deliveries), deliveryFaults));
    if (next !== undefined) state.apiChaos.faults = next;
  } catch (error) {
    const message = error instanceof LeadsError ? error.message : 'the body must be a JSON object';
    return failure(400, 'invalid_request', message);
  }
  return faultsInForce(state);
}

function asObject(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new TypeError('not an object');
}
