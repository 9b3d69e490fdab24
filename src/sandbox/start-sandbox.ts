import { isLoopback } from '../config/base-url.ts';
import { hostGuard } from '../receiver/host-guard.ts';
import { createPoster } from '../http/client/poster.ts';
import { trustIn } from '../http/client/trust.ts';
import {
  errorResponse,
  jsonResponse,
  openSandboxServer,
  type SandboxRequest,
  type SandboxResponse,
  type SandboxServer,
} from './sandbox-server.ts';
import { type Clock, slept } from '../time/clock.ts';
import { answerListRequest } from './api/list-operation.ts';
import { defaultConcurrency, defaultTimeoutMs, type SandboxOptions } from './sandbox-options.ts';
import { createSandboxState, type SandboxDependencies, type SandboxState } from './sandbox-state.ts';

export type { SandboxOptions } from './sandbox-options.ts';

export interface SandboxEnvironment extends Partial<Pick<SandboxDependencies, 'observe'>> {
  readonly clock: Clock;
  /** The local authority as PEM, to deliver to receivers on this machine. */
  readonly loopbackCa?: string | undefined;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Makes the leads, listens, and then begins to deliver: a sandbox that cannot listen sends nothing. Rejects as
 * `createSandboxState` and `openSandboxServer` do. `leads` are oldest first, and later leads are added to this array.
 */
export async function startSandbox(
  options: SandboxOptions,
  { clock, loopbackCa, observe = () => undefined }: SandboxEnvironment,
) {
  const { url: webhookUrl = 'http://localhost', concurrency, timeoutMs } = options.webhook ?? {};
  const poster = createPoster({
    connections: concurrency ?? defaultConcurrency,
    timeoutMs: timeoutMs ?? defaultTimeoutMs,
    trust: trustIn(isLoopback(new URL(webhookUrl).hostname) ? loopbackCa : undefined),
  });
  const state = createSandboxState(options, { clock, poster, observe });
  const server: SandboxServer = await openSandboxServer(options.port, (request) => {
    const response = answerRequest(request, state, server.url);
    return { ...response, headers: { date: new Date(clock.now()).toUTCString(), ...response.headers } };
  });
  state.deliverAll();
  const stop = new AbortController();
  const { everyMs } = options;
  const addRegularly = async (): Promise<void> => {
    while (everyMs !== undefined && (await slept(clock, everyMs, stop.signal))) state.generate();
  };
  void addRegularly();
  return {
    url: server.url,
    port: server.port,
    apiKey: state.apiKeys[0] ?? '',
    state,
    leads: state.leads.all,
    addLead: () => state.generate(),
    async close(): Promise<void> {
      stop.abort();
      state.deliveries.close();
      await server.close();
    },
  };
}

function answerRequest(request: SandboxRequest, state: SandboxState, ownUrl: string): SandboxResponse {
  const { path } = state.api;
  const base = originOfClient(request.headers.host, ownUrl);
  const url = URL.canParse(request.target, base) ? new URL(request.target, base) : undefined;
  if (url?.pathname === path) return answerListRequest(request, url, state);
  if (url?.pathname === '/sandbox/deliveries' && request.method === 'GET')
    return answerDeliveriesRequest(request, state);
  return errorResponse(404, 'not_found', `Leads are listed at ${path}.`);
}

const rejectForeign = hostGuard(undefined);

/** Shows every attempt to programs on this machine, but to no web page in a browser on it. */
function answerDeliveriesRequest(
  { headers: { host = '', origin } }: SandboxRequest,
  { deliveries: { attempts, acknowledged, pending } }: SandboxState,
): SandboxResponse {
  const rawHeaders = origin === undefined ? [] : [['origin', origin] as const];
  if (rejectForeign({ url: `http://${host}/`, rawHeaders }) !== undefined)
    return errorResponse(403, 'forbidden', 'Only programs on this machine may see this.');
  const report = { deliveries: attempts, acknowledged: acknowledged.size, pending };
  return jsonResponse(200, JSON.stringify(report));
}

/** A client sends its key only to the origin that it used, so links to the next page have its host name. */
function originOfClient(host: string | undefined, ownUrl: string): string {
  const origin = `http://${host ?? ''}`;
  return URL.canParse(origin) ? origin : ownUrl;
}
