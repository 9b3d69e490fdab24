import type { Duplex } from 'node:stream';
import type { buildConnector as Connect } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { TunnelError, TunnelRefusedError } from '../errors.ts';
import {
  answerHeaders,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  proxyFor,
} from './http-client.ts';
import { addressAttempts } from './limit-time.ts';
import { loopbackAuthorities, nameOtherHost } from './trust.ts';
import { openTunnel } from './tunnel.ts';

/**
 * The client of one run: HTTP/1.1 with keep-alive, `timeoutMs` to connect, to the first header and between two pieces of a
 * body, through the proxy that the environment names. The certificate of an https loopback address may also be issued by our
 * own local authority; `NODE_EXTRA_CA_CERTS` counts for loopback here, and for other hosts in node.
 */
export function createAgent(options: HttpClientOptions): HttpClient {
  const pools = new OriginPools(options);
  return {
    request: (sent) => unlessAborted(send(pools, sent), sent.signal),
    destroy: () => pools.destroy(),
  };
}

/** How many bytes of a body are buffered: with undici's own mark, one read of the socket, it would pause and resume for each. */
const highWaterMark = 512 * 1024;

/** undici adds `request` to its dispatchers in its index, which is not loaded. */
async function send(pools: OriginPools, sent: HttpRequest): Promise<HttpAnswer> {
  const { origin, body = null } = sent;
  const options = { ...sent, body, responseHeaders: 'raw', highWaterMark } as const;
  const {
    statusCode: status,
    statusText,
    headers,
    body: stream,
  } = await request.call(pools.of(origin), options);
  // undici's types do not say that its raw headers are one list.
  const parsedHeaders = answerHeaders(headers as unknown as readonly string[]);
  return {
    status,
    statusText,
    ...parsedHeaders,
    body: stream as AsyncIterable<Uint8Array>,
    discard: () => stream.dump(),
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

class OriginPools {
  readonly #options: HttpClientOptions;
  readonly #pools = new Map<string, Pool>();
  /** undici ends those that are connected; one that still connects would keep the process until its time is up. */
  readonly #sockets = new Set<{ destroy(): unknown }>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  of(origin: string): Pool {
    const existing = this.#pools.get(origin);
    if (existing !== undefined) return existing;
    const { timeoutMs } = this.#options;
    const pool = new Pool(origin, {
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: this.#connectorTo(new URL(origin)),
    });
    this.#pools.set(origin, pool);
    return pool;
  }

  async destroy(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #connectorTo(origin: URL): Connect.connector {
    const timeouts = { ...addressAttempts, timeout: this.#options.timeoutMs };
    const proxy = proxyFor(origin, this.#options.env);
    if (origin.protocol !== 'https:') {
      const direct = this.#tracked(buildConnector(timeouts));
      return proxy === undefined ? direct : this.#tunnelled(origin, proxy);
    }
    let ready: Promise<Connect.connector> | undefined;
    return (target, callback) => {
      ready ??= loopbackAuthorities(origin, this.#options).then((ca) => {
        const secure = this.#tracked(buildConnector({ ...timeouts, ...(ca.length === 0 ? {} : { ca }) }));
        return proxy === undefined ? secure : this.#tunnelled(origin, proxy, secure);
      });
      ready.then(
        (connect) => connect(target, callback),
        (error: unknown) => callback(error as Error, null),
      );
    };
  }

  /** undici's own proxy agent drops repeated headers, and fails on passwords with a percent sign. */
  #tunnelled({ protocol, hostname, port }: URL, proxy: URL, secure?: Connect.connector): Connect.connector {
    const authority = `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
    return (target, callback) => {
      const opening = openTunnel(proxy, authority, this.#options.timeoutMs, (error, socket) => {
        this.#sockets.delete(opening);
        if (socket === undefined) {
          callback(
            error instanceof TunnelRefusedError ? error : new TunnelError(proxy.host, error as Error),
            null,
          );
        } else if (secure === undefined) callback(null, socket);
        else secure({ ...target, httpSocket: socket }, callback);
      });
      this.#sockets.add(opening);
    };
  }

  #tracked(connect: Connect.connector): Connect.connector {
    return (target, callback) => {
      const socket = (connect as (...values: Parameters<typeof connect>) => Duplex)(target, callback);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      nameOtherHost(socket, target.hostname.replace(/^\[|\]$/g, ''));
    };
  }
}
