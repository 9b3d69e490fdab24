import { type Delivery, headerValues } from '../webhook/delivery.ts';
import type { InspectKeys } from './inspect-keys.ts';
import type { ApiProblem } from './request-problem.ts';
import { tokenHeader } from './wire.ts';

type Head = Pick<Delivery, 'method' | 'path' | 'rawHeaders'>;

/** The only `Host`s of a server on the loopback address: a page under another name that resolves to it sends another one. */
export const ownHosts = (port: number): readonly string[] =>
  ['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host);

/** Why a request is not answered, whatever it asks for; undefined where it may be. */
export function foreignHost(request: Head, hosts: readonly string[]): ApiProblem | undefined {
  const [host, ...more] = headerValues(request, 'host');
  const isOwn = host !== undefined && more.length === 0 && hosts.includes(host.toLowerCase());
  // An absolute target names a host of its own (RFC 9112, section 3.2.2).
  if (isOwn && request.path.startsWith('/')) return undefined;
  return {
    status: 403,
    code: 'forbidden',
    problem: 'This server is not the one that the request names.',
    hint: `The address is http://${hosts[0] ?? ''}; through a tunnel, both ends need the same port.`,
  };
}

/**
 * Why a request to the API is not answered. Pages of other origins, those of other ports of this machine included, may send
 * requests here, but not with a header of ours, and browsers say where they come from.
 */
export function unwantedRequest(request: Head, keys: Pick<InspectKeys, 'isToken'>): ApiProblem | undefined {
  const fetchSites = headerValues(request, 'sec-fetch-site');
  if (fetchSites.some((site) => site !== 'same-origin')) return foreignPage;
  const [host = ''] = headerValues(request, 'host');
  const origins = headerValues(request, 'origin');
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  if (isWrite && origins.length !== 1) return foreignPage;
  if (origins.some((origin) => origin !== `http://${host.toLowerCase()}`)) return foreignPage;
  if (isWrite && !isJson(request)) {
    return { status: 415, code: 'bad-request', problem: 'The content type must be application/json.' };
  }
  if (isSession(request)) return undefined;
  const [token = '', ...more] = headerValues(request, tokenHeader);
  return more.length === 0 && keys.isToken(token) ? undefined : noToken;
}

export const noToken: ApiProblem = {
  status: 401,
  code: 'no-token',
  problem: 'The request has no token of this server, which may have been started anew.',
  hint: 'Open the address that it printed last.',
};

const sessionPath = '/api/session';

const isSession = ({ path }: Head): boolean => path === sessionPath;

const isJson = (request: Head): boolean => {
  const types = headerValues(request, 'content-type');
  return types.length === 1 && /^application\/json(\s*;\s*charset=utf-8)?$/i.test(types[0] ?? '');
};

const foreignPage: ApiProblem = {
  status: 403,
  code: 'forbidden',
  problem: 'The request does not come from the page of this server.',
};

/** Nothing but our own files is loaded, nothing is sent elsewhere, and no text becomes markup or script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Every answer has these headers. Received data is for the operator alone, and on no disk but the inbox's. */
export const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;
