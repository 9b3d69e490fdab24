import type { Clock } from '../context.ts';
import { type Answer, failure, json } from './answer.ts';
import { hashText } from './chance.ts';
import { LeadSet, type SandboxLead } from './lead-set.ts';
import { listLeads } from './list.ts';
import { type ApiOptions, defaultApi } from './options.ts';
import { rateLimit } from './rate-limit.ts';
import { openServer, type Incoming } from './server.ts';

/** What a sandbox is to be; everything has a default. */
export interface SandboxOptions extends Partial<Omit<ApiOptions, 'params'>> {
  /** 0 (the default): any free port. */
  readonly port?: number;
  readonly host?: string;
  /** The same seed gives the same leads, faults and truth. */
  readonly seed?: string | number;
  /** How many leads there are at the start. Default 250. */
  readonly leads?: number;
  /** When the newest of them was created, in milliseconds. Default: the last UTC midnight. */
  readonly newest?: number;
  readonly params?: Partial<ApiOptions['params']>;
}

/** What the sandbox takes from the world outside. */
export interface SandboxWorld {
  readonly clock: Clock;
}

export interface Sandbox {
  /** Base URL of the service, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The first of the keys that open the list operation. */
  readonly apiKey: string;
  readonly leads: LeadSet;
  /** A new lead, as `POST /sandbox/leads` without a body makes it. */
  addLead(): SandboxLead;
  close(): Promise<void>;
}

const day = 86_400_000;

/** Starts the service of the specification on this machine; rejects when the port is taken. */
export async function startSandbox(options: SandboxOptions, { clock }: SandboxWorld): Promise<Sandbox> {
  const { params, ...rest } = options;
  const api: ApiOptions = { ...defaultApi, ...rest, params: { ...defaultApi.params, ...params } };
  const leads = new LeadSet(hashText(String(options.seed ?? 1)));
  leads.seed(options.leads ?? 250, options.newest ?? Math.floor(clock.now() / day) * day, 'mixed');
  const limit = rateLimit(api.rateLimit, () => clock.now());
  let url = '';
  let requests = 0;

  const handle = (request: Incoming): Answer => {
    requests += 1;
    const at = URL.canParse(request.target, url) ? new URL(request.target, url) : undefined;
    const answer =
      at?.pathname === api.path
        ? listLeads(
            { method: request.method, url: at, authorization: request.authorization },
            leads,
            api,
            limit,
          )
        : request.target === '/'
          ? json(200, { service: 'leads sandbox', list: api.path })
          : failure(404, 'not_found', `Leads are listed at ${api.path}.`);
    return {
      ...answer,
      headers: { ...answer.headers, 'x-request-id': `req_${String(requests).padStart(6, '0')}` },
    };
  };

  const server = await openServer({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    gzip: api.gzip,
    handle,
  });
  url = server.url;
  return {
    url,
    port: server.port,
    apiKey: api.apiKeys[0] ?? '',
    leads,
    addLead: () => leads.generate(clock.now()),
    close: () => server.close(),
  };
}
