import { isIP } from 'node:net';
import { unescape } from 'node:querystring';
import { type ClientRequest, request as requestPlain } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { TunnelRefusedError, tunnelTimeout } from '../errors.ts';
import { addressAttempts } from './limit-time.ts';

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
    // Without it, node takes the target's name from the Host header, and asks the proxy for a certificate of that.
    ...(isSecure && { servername: isIP(hostname) === 0 ? hostname : '' }),
    agent: false,
    ...addressAttempts,
    port: proxy.port === '' ? (isSecure ? 443 : 80) : proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyAuthorization(proxy) },
  });
  // A time-out of the request would begin when it is connected, and begin again with each byte.
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

/** To open a tunnel, in milliseconds; the request's own limit usually ends it earlier. */
export const tunnelMs = 30_000;

export function tunnelAgent(proxy: URL, options: AgentOptions): HttpsAgent {
  const createConnection = (target: ConnectionOptions, onSocket: OnSocket): void => {
    const host = target.host?.includes(':') === true ? `[${target.host}]` : (target.host ?? '');
    openTunnel(proxy, `${host}:${target.port ?? 443}`, tunnelMs, (error, socket) => {
      onSocket(error, socket && connect({ ...target, socket }));
    });
  };
  return Object.assign(new HttpsAgent(options), { createConnection });
}

/** A percent sign that begins no code stands for itself: a password is often given as it is. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${unescape(username)}:${unescape(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}
