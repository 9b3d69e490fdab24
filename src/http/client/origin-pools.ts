import type { Duplex } from 'node:stream';
import { isIP } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { buildConnector as Connect } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { TunnelError, TunnelRefusedError } from '../errors.ts';
import { addressAttempts } from './http-client.ts';
import { nameOtherHost } from './trust.ts';
import { openTunnel } from './proxy.ts';

interface PoolOptions {
  /** To connect, and to open a tunnel; ms. */
  readonly connectMs: number;
  /** The most connections to one origin; undefined: no limit. */
  readonly connections?: number | undefined;
  /** To the headers of an answer, and between two pieces of its body; ms. 0: no limit. */
  readonly answerMs: number;
  /** The proxy through which an https origin is reached. */
  readonly proxyFor: (origin: URL) => URL | undefined;
  /** Decides which certificates of an https origin are trusted. */
  readonly trustOf: (
    origin: URL,
  ) => Promise<SecureContextOptions & { readonly rejectUnauthorized?: boolean }>;
}

/** The pools of connections of undici, one for each origin: HTTP/1.1 with keep-alive. */
export class OriginPools {
  readonly #options: PoolOptions;
  readonly #pools = new Map<string, Pool>();
  /** undici ends those that are connected; one that still connects would keep the process until its time is up. */
  readonly #sockets = new Set<{ destroy(): unknown }>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  of(origin: string): Pool {
    const existing = this.#pools.get(origin);
    if (existing !== undefined) return existing;
    const { connections = null, answerMs } = this.#options;
    const pool = new Pool(origin, {
      connections,
      headersTimeout: answerMs,
      bodyTimeout: answerMs,
      // A server may close an idle connection earlier than it says: no request is sent in the second before that.
      keepAliveTimeoutThreshold: 1000,
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
    const { connectMs, proxyFor, trustOf } = this.#options;
    const shared = { ...addressAttempts, timeout: connectMs };
    if (origin.protocol !== 'https:') return this.#tracked(buildConnector(shared));
    const proxy = proxyFor(origin);
    let ready: Promise<Connect.connector> | undefined;
    return (target, callback) => {
      ready ??= trustOf(origin).then((trust) => {
        const secure = this.#tracked(buildConnector({ ...shared, ...trust }));
        return proxy === undefined ? secure : this.#tunnelled(origin, proxy, secure);
      });
      ready.then(
        (connect) => connect(target, callback),
        (error: unknown) => callback(error as Error, null),
      );
    };
  }

  /** undici's own proxy agent drops repeated headers, and fails on passwords with a percent sign. */
  #tunnelled({ hostname, port }: URL, proxy: URL, secure: Connect.connector): Connect.connector {
    const authority = `${hostname}:${port === '' ? 443 : port}`;
    return (target, callback) => {
      const opening = openTunnel(proxy, authority, this.#options.connectMs, (error, socket) => {
        this.#sockets.delete(opening);
        if (socket !== undefined) secure({ ...target, httpSocket: socket }, callback);
        else if (error instanceof TunnelRefusedError) callback(error, null);
        else callback(new TunnelError(proxy.host, error as Error), null);
      });
      this.#sockets.add(opening);
    };
  }

  #tracked(connect: Connect.connector): Connect.connector {
    return (target, callback) => {
      const host = target.hostname.replace(/^\[|\]$/g, '');
      // undici would ask for the certificate of the host that a `Host` header names.
      const servername = isIP(host) === 0 ? host : '';
      const socket = (connect as (...values: Parameters<typeof connect>) => Duplex)(
        { ...target, servername },
        callback,
      );
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      nameOtherHost(socket, host);
    };
  }
}
