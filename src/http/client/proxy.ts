import { unescape } from 'node:querystring';
import { type ClientRequest, request as requestPlain } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, request as requestSecure } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { invalidProxy, TunnelRefusedError, tunnelTimeout } from '../errors.ts';
import { isLoopback } from '../../config/base-url.ts';
import { addressAttempts } from './http-client.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for requests to an origin, from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; their lower-case forms take
 * precedence, as in curl. Loopback addresses are always reached directly: only to them the key may be sent over plain HTTP.
 * Throws a `ConfigError` for a value that is not an http:// or https:// URL.
 */
export function proxyFor(origin: URL, env: Env): URL | undefined {
  if (isLoopback(origin.hostname) || isExempt(origin, envValue(env, 'no_proxy') ?? '')) return undefined;
  const name = origin.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const text = envValue(env, name);
  if (text === undefined) return undefined;
  const url = /^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url);
  throw invalidProxy(name.toUpperCase());
}

const envValue = (env: Env, name: string): string | undefined => {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === '' ? undefined : value;
};

/**
 * Whether `NO_PROXY` names the origin. The list has, separated by commas or spaces: `*`, host names and suffixes, and addresses, each
 * with an optional port, and networks such as `10.0.0.0/8`.
 */
function isExempt(origin: URL, list: string): boolean {
  const port = origin.port === '' ? (origin.protocol === 'https:' ? '443' : '80') : origin.port;
  const hostname = withoutBrackets(origin.hostname);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, host = entry, entryPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
      const name = withoutBrackets(host).replace(/^\*?\./, '');
      if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
      return hostname === name || hostname.endsWith(`.${name}`) || isWithin(hostname, name);
    });
}

export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

function isWithin(address: string, entry: string): boolean {
  const [network = '', length, ...more] = entry.split('/');
  const [family, allBits] = isIP(network) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
  const bits = Number(length ?? allBits);
  const isNetwork = isIP(network) !== 0 && /^\d{1,3}$/.test(length ?? '0') && more.length === 0;
  if (isIP(address) === 0 || !isNetwork || bits > allBits) return false;
  const networks = new BlockList();
  networks.addSubnet(network, bits, family);
  return networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Called once, with the socket that leads through the proxy to the target; it carries no TLS yet. */
type OnSocket = (error: Error | null, socket?: Socket) => void;

export function openTunnel(
  proxy: URL,
  authority: string,
  timeoutMs: number,
  onSocket: OnSocket,
): ClientRequest {
  const isSecure = proxy.protocol === 'https:';
  const hostname = proxy.hostname.replace(/^\[|\]$/g, '');
  const opening = (isSecure ? requestSecure : requestPlain)({
    hostname,
    // Without it, node would ask the proxy for a certificate of the host that the Host header names, which is the target.
    ...(isSecure && { servername: isIP(hostname) === 0 ? hostname : '' }),
    agent: false,
    ...addressAttempts,
    port: proxy.port === '' ? (isSecure ? 443 : 80) : proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyAuthorization(proxy) },
  });
  // Node's own time-out of a request begins when it is connected, and once more with each byte.
  const timer = setTimeout(() => opening.destroy(tunnelTimeout()), timeoutMs);
  opening.once('close', () => clearTimeout(timer));
  opening.once('error', onSocket);
  opening.once('connect', ({ statusCode }, socket) => {
    clearTimeout(timer);
    if (statusCode === 200) {
      onSocket(null, socket);
      return;
    }
    socket.destroy();
    onSocket(new TunnelRefusedError(statusCode ?? 0));
  });
  opening.end();
  return opening;
}

/** The longest time to open a tunnel, in milliseconds; the limit of the request itself is shorter as a rule. */
const longestOpeningMs = 30_000;

export function tunnelAgent(proxy: URL, options: AgentOptions): HttpsAgent {
  const createConnection = (target: ConnectionOptions, onSocket: OnSocket): void => {
    const host = target.host?.includes(':') === true ? `[${target.host}]` : (target.host ?? '');
    openTunnel(proxy, `${host}:${target.port ?? 443}`, longestOpeningMs, (error, socket) => {
      onSocket(error, socket && connect({ ...target, socket }));
    });
  };
  return Object.assign(new HttpsAgent(options), { createConnection });
}

/** The header with the user and password of the proxy's URL. A percent sign that begins no code is kept: people often forget to encode it. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${unescape(username)}:${unescape(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}
