import { type Delivery, headerValues } from '../webhook/delivery.ts';
import type { InspectKeys } from './inspect-keys.ts';
import { RequestProblem } from './request-problem.ts';
import { tokenHeader } from './wire.ts';

type Head = Pick<Delivery, 'method' | 'path' | 'rawHeaders'>;

/** Every request must pass this check. */
export function checkHost(request: Head, hosts: readonly string[]): void {
  const [host, ...furtherHosts] = headerValues(request, 'host');
  const isOwn = host !== undefined && furtherHosts.length === 0 && hosts.includes(host.toLowerCase());
  // An absolute target names a host of its own (RFC 9112, section 3.2.2).
  if (isOwn && request.path.startsWith('/')) return;
  throw new RequestProblem(
    403,
    'forbidden',
    'This server is not the one that the request names.',
    `The address is http://${hosts[0] ?? ''}; through a tunnel, both ends need the same port.`,
  );
}

/**
 * Every request to the API must pass this check. Pages of other origins, and of other ports of this machine, can send requests
 * here. They cannot add the header of the token, and their browser says in `Sec-Fetch-Site` and `Origin` where they come from.
 */
export function checkApiRequest(request: Head, keys: Pick<InspectKeys, 'useToken'>): void {
  const [host = ''] = headerValues(request, 'host');
  const origins = headerValues(request, 'origin');
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  const isFromOtherSite = headerValues(request, 'sec-fetch-site').some((site) => site !== 'same-origin');
  const isFromOtherOrigin = origins.some((origin) => origin !== `http://${host.toLowerCase()}`);
  if (isFromOtherSite || isFromOtherOrigin || (isWrite && origins.length !== 1)) {
    throw new RequestProblem(403, 'forbidden', 'The request does not come from the page of this server.');
  }
  const contentType = headerValues(request, 'content-type').join();
  if (isWrite && !/^application\/json(\s*;\s*charset=utf-8)?$/i.test(contentType)) {
    throw new RequestProblem(415, 'bad-request', 'The content type must be application/json.');
  }
  const tokens = headerValues(request, tokenHeader);
  if (request.path !== '/api/session' && !keys.useToken(tokens.join())) throw noToken();
}

export const noToken = (): RequestProblem =>
  new RequestProblem(
    401,
    'no-token',
    'The request has no token of this server, which may have been started anew.',
    'Open the address that it printed last.',
  );

/** The page loads only files of this server, sends nothing elsewhere, and turns no text into markup or script. */
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

/** Every answer has these headers. Received data is for the operator alone, and no cache stores it on the disk. */
export const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;
