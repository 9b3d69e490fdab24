import type { Duplex } from 'node:stream';
import type { buildConnector as Connect } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { isLoopback } from '../../config/base-url.ts';
import { addressAttempts } from './limit-time.ts';
import {
  answerHeaders,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  proxyFor,
} from './http-client.ts';
import { loopbackAuthorities, nameOtherHost } from './trust.ts';

/**
 * The connections of one run: HTTP/1.1 with keep-alive, `timeoutMs` to connect, to the first header and between two
 * pieces of a body, through the proxy that the environment names. The certificate of an https loopback address may also
 * be issued by our own local authority; `NODE_EXTRA_CA_CERTS` counts for loopback here, and for other hosts in node.
 */
export async function createAgent(options: HttpClientOptions): Promise<HttpClient> {
  const { env, timeoutMs } = options;
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const proxied = ['https_proxy', 'http_proxy', 'HTTPS_PROXY', 'HTTP_PROXY'].some((name) => env[name]);
  const throughProxy = proxied ? (await import('./proxy-agent.ts')).throughProxy : undefined;
  const sockets = new OpenSockets();
  const connector = (options: Connect.BuildOptions): Connect.connector =>
    sockets.of(buildConnector({ ...addressAttempts, timeout: timeoutMs, ...options }));
  const direct = connector({});
  const agent = new Agent({
    ...timeouts,
    factory: (origin) => {
      const url = new URL(origin);
      const proxy = proxyFor(url, env);
      if (proxy !== undefined && throughProxy !== undefined) {
        return throughProxy(proxy, {
          timeoutMs,
          onTunnel: (socket) => sockets.add(socket),
          tracked: (connect) => sockets.of(connect),
        });
      }
      const isLocal = url.protocol === 'https:' && isLoopback(url.hostname);
      const connect = isLocal ? loopbackConnector(url, options, connector) : direct;
      return new Pool(origin, { ...timeouts, connect });
    },
  });
  return {
    request: ({ body = null, signal, ...rest }) =>
      unlessAborted(send(agent, { ...rest, body, signal, responseHeaders: 'raw', highWaterMark }), signal),
    async destroy() {
      sockets.destroy();
      await agent.destroy();
    },
  };
}

/** Of a body, in bytes: undici's own is one read of the socket, so that each would be paused and resumed for. */
const highWaterMark = 512 * 1024;

/** undici adds `request` to its dispatchers in its index, which is not loaded. */
async function send(agent: Agent, options: Parameters<typeof request>[0]): Promise<HttpAnswer> {
  const { statusCode: status, statusText, headers, body } = await request.call(agent, options);
  // What undici calls raw is one list, which its types do not say.
  const named = answerHeaders(headers as unknown as readonly string[]);
  return {
    status,
    statusText,
    ...named,
    body: body as AsyncIterable<Uint8Array>,
    discard: () => body.dump(),
  };
}

/** undici looks at a request's signal only once there is a connection, for which a proxy may let it wait. */
async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Connects to one https loopback address; our authority is read for the first connection. */
function loopbackConnector(
  url: URL,
  options: HttpClientOptions,
  connector: (options: Connect.BuildOptions) => Connect.connector,
): Connect.connector {
  let ready: Promise<Connect.connector> | undefined;
  return (target, callback) => {
    ready ??= loopbackAuthorities(url, options).then((ca) => connector(ca.length === 0 ? {} : { ca }));
    ready.then(
      (connect) => connect(target, callback),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

/**
 * The sockets of one agent. undici ends those that are connected; one that still connects, or speaks TLS through a tunnel,
 * would keep the process until its time is up.
 */
class OpenSockets {
  readonly #sockets = new Set<Duplex>();

  add(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** The same connector; undici's own returns its socket, which its types do not say. */
  of(connect: Connect.connector): Connect.connector {
    return (options, callback) => {
      const socket = (connect as (...values: Parameters<typeof connect>) => Duplex | undefined)(
        options,
        callback,
      );
      if (socket === undefined) return;
      this.add(socket);
      nameOtherHost(socket, options.hostname.replace(/^\[|\]$/g, ''));
    };
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
