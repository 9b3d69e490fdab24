import {
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, request as requestSecure } from 'node:https';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

type OnSocket = (error: Error | null, socket?: TLSSocket) => void;

/** To open a tunnel, in milliseconds; the request's own limit usually ends it earlier. */
const connectMs = 30_000;

/** Opens a tunnel through the proxy for each of its connections (`CONNECT`, RFC 9110, section 9.3.6). */
export function tunnelAgent(proxy: URL, options: AgentOptions): HttpsAgent {
  const createConnection = (target: ConnectionOptions, onSocket: OnSocket): void => {
    const host = target.host?.includes(':') === true ? `[${target.host}]` : (target.host ?? '');
    const authority = `${host}:${target.port ?? 443}`;
    const opening = toProxy(proxy, {
      method: 'CONNECT',
      path: authority,
      headers: connectHeaders(proxy, authority),
    });
    opening.setTimeout(connectMs, () => opening.destroy(new Error('the proxy opened no tunnel in time')));
    opening.once('error', onSocket);
    opening.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) {
        socket.setTimeout(0);
        onSocket(null, connect({ ...target, socket }));
        return;
      }
      socket.destroy();
      onSocket(new Error(`the proxy answered ${statusCode ?? 0} to CONNECT`));
    });
    opening.end();
  };
  return Object.assign(new HttpsAgent(options), { createConnection });
}

/** A plain HTTP request through the proxy, which gets its whole URL (RFC 9112, section 3.2.2). */
export function requestThroughProxy(
  proxy: URL,
  url: URL,
  options: RequestOptions & { readonly headers: readonly string[] },
  onAnswer: (answer: IncomingMessage) => void,
): ClientRequest {
  const headers = [...options.headers, ...Object.entries(authorization(proxy)).flat()];
  return toProxy(proxy, { ...options, path: url.href, headers }, onAnswer);
}

function toProxy(
  { protocol, hostname, port }: URL,
  options: RequestOptions,
  onAnswer?: (answer: IncomingMessage) => void,
): ClientRequest {
  const isSecure = protocol === 'https:';
  const address = {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : port,
  };
  return (isSecure ? requestSecure : requestPlain)({ ...options, ...address }, onAnswer);
}

const connectHeaders = (proxy: URL, host: string) => ({ host, ...authorization(proxy) });

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}
