import { createPoster } from '../http/client/poster.ts';
import {
  errorResponse,
  jsonResponse,
  openPlainServer,
  type PlainRequest,
  type PlainResponse,
} from '../http/server/plain-server.ts';
import { type Clock, slept } from '../time/clock.ts';
import {
  type AccountOptions,
  type ApiOptions,
  defaultApi,
  defaultConcurrency,
  type SandboxOptions,
  withoutUndefined,
} from './sandbox-options.ts';
import { answerListRequest } from './api/list-operation.ts';
import { answerControlRequest } from './control.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { type SandboxDependencies, SandboxState } from './sandbox-state.ts';

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
  /** The first key of the first account. */
  readonly apiKey: string;
  /** Leads, faults and records of each: what the control endpoints show. */
  readonly accounts: readonly SandboxState[];
  /** The first account. */
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
  const { otherAccounts = [] } = options;
  const webhooks = [options, ...otherAccounts].flatMap((account) => account.webhooks ?? []);
  const poster = createPoster({
    connections: Math.max(...webhooks.map((one) => one.concurrency ?? defaultConcurrency), 1),
    loopbackCa,
    now: () => clock.steady(),
  });
  const open = (account: AccountOptions, i: number): SandboxState =>
    new SandboxState(account.name ?? String(i + 1), account, api, { clock, poster, sentenceOf, observe });
  const state = open(options, 0);
  const accounts = [state, ...otherAccounts.map((account, i) => open(account, i + 1))] as const;
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
      const answer = await answerRequest({ ...request, method }, accounts, api.path, url, clock);
      return { ...answer, headers: { date: new Date(clock.now()).toUTCString(), ...answer.headers } };
    },
    onError: (error) => errorResponse(500, 'sandbox_bug', String(error)),
  });
  url = server.url;
  const stop = new AbortController();
  for (const account of accounts) void addRegularly(account, clock, stop.signal);
  return {
    url,
    port: server.port,
    apiKey: state.apiKeys[0] ?? '',
    accounts,
    state,
    leads: state.leads,
    addLead: () => state.generate(),
    async close() {
      stop.abort();
      for (const account of accounts) account.deliveries.cancel();
      poster.close();
      await server.close();
    },
  };
}

async function answerRequest(
  request: PlainRequest,
  accounts: readonly [SandboxState, ...SandboxState[]],
  path: string,
  ownUrl: string,
  clock: Clock,
): Promise<PlainResponse> {
  const base = originOfClient(request.headers.host, ownUrl);
  const url = URL.canParse(request.target, base) ? new URL(request.target, base) : undefined;
  if (url?.pathname === path) return answerListRequest(request, url, accounts, clock);
  const controlled = url && (await answerControlRequest(accounts, url, request, ownUrl));
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

async function addRegularly(account: SandboxState, clock: Clock, signal: AbortSignal): Promise<void> {
  const { everyMs } = account;
  while (everyMs !== undefined && (await slept(clock, everyMs, signal))) account.generate();
}
