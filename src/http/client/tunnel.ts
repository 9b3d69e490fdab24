import { Agent as PlainAgent, type ClientRequest, request as requestPlain } from 'node:http';
import { Agent as SecureAgent, type AgentOptions, request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';

type OnSocket = (error: Error | null, socket?: Socket) => void;

/**
 * Opens a tunnel to `HOST:PORT` through an http:// or https:// proxy (`CONNECT`, RFC 9110, section 9.3.6). The request's own
 * limit usually ends it before `timeoutMs`. An error says by `status` that the proxy refused.
 */
export function openTunnel(
  proxy: URL,
  authority: string,
  onSocket: OnSocket,
  timeoutMs = 30_000,
): ClientRequest {
  const isSecure = proxy.protocol === 'https:';
  const opening = (isSecure ? requestSecure : requestPlain)({
    hostname: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port === '' ? (isSecure ? 443 : 80) : proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyAuthorization(proxy) },
  });
  const late = Object.assign(new Error('the proxy opened no tunnel in time'), { code: 'HEADERS_TIMEOUT' });
  opening.setTimeout(timeoutMs, () => opening.destroy(late));
  opening.once('error', onSocket);
  opening.once('connect', ({ statusCode }, socket) => {
    if (statusCode === 200) {
      socket.setTimeout(0);
      onSocket(null, socket);
      return;
    }
    socket.destroy();
    const refusal = new Error(`the proxy answered ${statusCode ?? 0} to CONNECT`);
    onSocket(Object.assign(refusal, { status: statusCode }));
  });
  opening.end();
  return opening;
}

interface TunnelOptions {
  /** What goes through the tunnel. Default: TLS. */
  readonly isSecure?: boolean;
  readonly open?: typeof openTunnel;
}

/** For node's client: opens a tunnel through the proxy for each of its connections. */
export function tunnelAgent(
  proxy: URL,
  options: AgentOptions,
  { isSecure = true, open = openTunnel }: TunnelOptions = {},
): PlainAgent {
  const createConnection = (target: ConnectionOptions, onSocket: OnSocket): void => {
    const host = target.host?.includes(':') === true ? `[${target.host}]` : (target.host ?? '');
    open(proxy, `${host}:${target.port ?? (isSecure ? 443 : 80)}`, (error, socket) => {
      onSocket(error, isSecure ? socket && connect({ ...target, socket }) : socket);
    });
  };
  return Object.assign(new (isSecure ? SecureAgent : PlainAgent)(options), { createConnection });
}

export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}
