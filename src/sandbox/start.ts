import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../time/clock.ts';
import { createPoster } from '../http/client/post.ts';
import { type Answer, failure, json } from '../http/server/answer.ts';
import { control } from './control/control.ts';
import type { Attempt } from './deliveries/attempt.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { listLeads } from './api/list-leads.ts';
import { type ApiOptions, defaultApi } from './api/api-options.ts';
import type { LoggedRequest } from './api/request-log.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { type Incoming, openServer } from '../http/server/plain-server.ts';
import { SandboxState } from './state.ts';
import { drawFaults } from './api/draw-faults.ts';

export type { SandboxOptions } from './sandbox-options.ts';

/** What the sandbox takes from the world outside. */
export interface SandboxWorld {
  readonly clock: Clock;
  /** Our own authority as PEM, to deliver to receivers on this machine. */
  readonly loopbackCa?: string | undefined;
  /** Told of each request of the list operation, and each attempt to deliver, once it is over. */
  readonly observe?: (happened: LoggedRequest | Attempt) => void;
}

export interface Sandbox {
  /** Base URL of the service, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The first of the keys that open the list operation. */
  readonly apiKey: string;
  /** Leads, faults and truth: what the control endpoints show. */
  readonly state: SandboxState;
  readonly leads: SandboxState['leads'];
  /** A new lead, as `POST /sandbox/leads` without a body makes it. */
  addLead(): SandboxLead;
  /** Cuts what is in flight. */
  close(): Promise<void>;
}

/** Starts the service of the specification on this machine; rejects when the port is taken. */
export async function startSandbox(options: SandboxOptions, world: SandboxWorld): Promise<Sandbox> {
  const { clock, loopbackCa } = world;
  const api: ApiOptions = {
    ...defaultApi,
    ...withoutUndefined(options),
    params: { ...defaultApi.params, ...options.params },
  };
  const poster = createPoster({
    connections: options.webhook?.concurrency ?? 8,
    loopbackCa,
    now: () => clock.now(),
  });
  const state = new SandboxState(options, api, { ...world, poster });
  state.begin();
  let url = '';
  const server = await openServer({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    gzip: api.gzip,
    tls: options.tls,
    clock,
    handle: (request) => answerTo(request, state, url),
  });
  url = server.url;
  const stop = new AbortController();
  void warm(state, stop.signal);
  if (options.everyMs !== undefined) void grow(state, options.everyMs, clock, stop.signal);
  return {
    url,
    port: server.port,
    apiKey: api.apiKeys[0] ?? '',
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

async function answerTo(request: Incoming, state: SandboxState, ownUrl: string): Promise<Answer> {
  const reached = reachedAs(request.headers.host, ownUrl);
  const url = URL.canParse(request.target, reached) ? new URL(request.target, reached) : undefined;
  if (url?.pathname === state.api.path) return listed(request, url, state);
  const controlled = url && (await control(state, url, request, ownUrl));
  if (controlled !== undefined) return controlled;
  if (url?.pathname === '/') return json(200, { service: 'leads sandbox', leads: state.api.path });
  return failure(404, 'not_found', `Leads are listed at ${state.api.path}.`);
}

/** Links lead on under the name that the client used: its key goes to no other origin. */
function reachedAs(host: string | undefined, ownUrl: string): string {
  const named = `${new URL(ownUrl).protocol}//${host ?? ''}`;
  return URL.canParse(named) ? named : ownUrl;
}

function listed(request: Incoming, url: URL, state: SandboxState): Answer {
  const id = state.requests.nextId();
  const { method, target } = request;
  const { answer, count, trouble } = listLeads(
    { method, url, authorization: request.headers.authorization },
    {
      leads: state.leads,
      api: state.api,
      limit: state.limit,
      trouble: () => {
        const drawn = drawFaults(state.apiChaos, state.seed, state.requests.keyOf(target));
        if (drawn.shift) state.generate();
        return drawn;
      },
    },
  );
  state.logged({
    id,
    at: new Date(state.now()).toISOString(),
    method,
    target,
    status: answer.wire?.kind === 'reset' ? null : answer.status,
    leads: count,
    faults: trouble?.names ?? [],
  });
  return { ...answer, headers: { ...answer.headers, 'x-request-id': id } };
}

async function grow(state: SandboxState, everyMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(everyMs, signal);
    } catch {
      // Closed.
      return;
    }
    state.generate();
  }
}

/** Makes the leads' texts in idle moments, so that the first walk is served as fast as the next. */
async function warm({ leads }: SandboxState, signal: AbortSignal): Promise<void> {
  const atATime = 250;
  for (let at = Math.min(leads.size, 200_000) - 1; at >= 0 && !signal.aborted; at -= 1) {
    leads.at(at)?.text();
    if (at % atATime === 0) await setImmediate();
  }
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
