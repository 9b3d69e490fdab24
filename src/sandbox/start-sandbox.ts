import { createPoster } from '../http/client/poster.ts';
import {
  errorResponse,
  jsonResponse,
  openPlainServer,
  type PlainRequest,
  type PlainResponse,
} from '../http/server/plain-server.ts';
import { type Clock, slept } from '../time/clock.ts';
import { type ApiOptions, defaultApi, type SandboxOptions } from './sandbox-options.ts';
import { answerListRequest } from './api/list-operation.ts';
import { answerControlRequest } from './control.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { defaultConcurrency, type SandboxDependencies, SandboxState } from './sandbox-state.ts';

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
  /** The first of the keys that are valid for the list operation. */
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
    params: { ...defaultApi.params, ...options.params },
  };
  const poster = createPoster({
    connections: options.webhook?.concurrency ?? defaultConcurrency,
    loopbackCa,
    now: () => clock.steady(),
  });
  const state = new SandboxState(options, api, { clock, poster, sentenceOf, observe });
  state.addInitialLeads();
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
  if (options.everyMs !== undefined) void addRegularly(state, options.everyMs, clock, stop.signal);
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

async function answerRequest(
  request: PlainRequest,
  state: SandboxState,
  ownUrl: string,
  clock: Clock,
): Promise<PlainResponse> {
  const base = originOfClient(request.headers.host, ownUrl);
  const url = URL.canParse(request.target, base) ? new URL(request.target, base) : undefined;
  if (url?.pathname === state.api.path) return answerListRequest(request, url, state, clock);
  const controlled = url && (await answerControlRequest(state, url, request, ownUrl));
  if (controlled !== undefined) return controlled;
  if (url?.pathname === '/') {
    // A receiver stands elsewhere: a delivery that is answered 200 here would be lost.
    return request.method === 'GET'
      ? jsonResponse(200, { service: 'leads sandbox', leads: state.api.path })
      : errorResponse(405, 'method_not_allowed', 'Nothing is received here.', { allow: 'GET, HEAD' });
  }
  return errorResponse(404, 'not_found', `Leads are listed at ${state.api.path}.`);
}

/** Links to the next page use the host name that the client used: it sends its key to no other origin. */
function originOfClient(host: string | undefined, ownUrl: string): string {
  const origin = `${new URL(ownUrl).protocol}//${host ?? ''}`;
  return URL.canParse(origin) ? origin : ownUrl;
}

async function addRegularly(
  state: SandboxState,
  everyMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (await slept(clock, everyMs, signal)) state.generate();
}

/** So that the defaults hold for what is not set. */
const withoutUndefined = (options: SandboxOptions): Partial<ApiOptions> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
