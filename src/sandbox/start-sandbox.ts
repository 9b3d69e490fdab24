import { isLoopback } from '../config/base-url.ts';
import { createPoster } from '../http/client/poster.ts';
import { trustIn } from '../http/client/trust.ts';
import {
  errorResponse,
  jsonResponse,
  openSandboxServer,
  type PlainRequest,
  type PlainResponse,
} from './sandbox-server.ts';
import { type Clock, slept } from '../time/clock.ts';
import { answerListRequest } from './api/list-operation.ts';
import { answerControlRequest } from './control.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { defaultConcurrency, defaultTimeoutMs, type SandboxOptions } from './sandbox-options.ts';
import { type SandboxDependencies, SandboxState } from './sandbox-state.ts';

export type { SandboxOptions } from './sandbox-options.ts';

export interface SandboxEnvironment extends Partial<Pick<SandboxDependencies, 'observe'>> {
  readonly clock: Clock;
  /** The local authority as PEM, to deliver to receivers on this machine. */
  readonly loopbackCa?: string | undefined;
}

export interface Sandbox {
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  readonly state: SandboxState;
  readonly leads: readonly SandboxLead[];
  addLead(): SandboxLead;
  close(): Promise<void>;
}

export async function startSandbox(
  options: SandboxOptions,
  { clock, loopbackCa, observe = () => undefined }: SandboxEnvironment,
): Promise<Sandbox> {
  const {
    url: target = 'http://localhost',
    concurrency,
    timeoutMs = defaultTimeoutMs,
  } = options.webhook ?? {};
  const poster = createPoster({
    connections: concurrency ?? defaultConcurrency,
    timeoutMs,
    trust: trustIn(isLoopback(new URL(target).hostname) ? loopbackCa : undefined),
  });
  const state = new SandboxState(options, { clock, poster, observe });
  let url = '';
  const server = await openSandboxServer(options, state.api.gzip, async (request) => {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const answer = await answerRequest({ ...request, method }, state, url, clock);
    return { ...answer, headers: { date: new Date(clock.now()).toUTCString(), ...answer.headers } };
  });
  ({ url } = server);
  const stop = new AbortController();
  const { everyMs } = options;
  const addRegularly = async (): Promise<void> => {
    while (everyMs !== undefined && (await slept(clock, everyMs, stop.signal))) state.generate();
  };
  void addRegularly();
  return {
    url,
    port: server.port,
    apiKey: state.apiKeys[0] ?? '',
    state,
    leads: state.leads.all,
    addLead: () => state.generate(),
    async close() {
      stop.abort();
      state.deliveries.close();
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
  if (url?.pathname !== '/') return errorResponse(404, 'not_found', `Leads are listed at ${path}.`);
  // A receiver listens elsewhere: a delivery that is answered 200 here would be lost.
  return request.method === 'GET'
    ? jsonResponse(200, { service: 'leads sandbox', leads: path })
    : errorResponse(405, 'method_not_allowed', 'Nothing is received here.', { allow: 'GET, HEAD' });
}

/** A client sends its key only to the origin that it used, so links to the next page have its host name. */
function originOfClient(host: string | undefined, ownUrl: string): string {
  const origin = `${new URL(ownUrl).protocol}//${host ?? ''}`;
  return URL.canParse(origin) ? origin : ownUrl;
}
