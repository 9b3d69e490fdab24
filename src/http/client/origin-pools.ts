import type { Duplex } from 'node:stream';
import { isIP } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { buildConnector as Connect } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { connectTimeout, TunnelError, TunnelRefusedError } from '../errors.ts';
import { addressAttempts, type HttpClientOptions } from './http-client.ts';
import { nameOtherHost } from './trust.ts';
import { openTunnel } from './proxy.ts';

/**
 * `connections` is the most to one origin; undefined: no limit. `connectMs` is the time to connect, with the tunnel and the TLS
 * handshake; `answerMs` that to the headers of an answer, and between two pieces of its body; 0: no limit. `proxyFor` names the
 * proxy through which an https origin is reached, and `trustOf` decides which of its certificates are trusted.
 */
interface PoolOptions {
  readonly connections?: number | undefined;
  readonly connectMs: number;
  readonly answerMs: number;
  readonly proxyFor: (origin: URL) => URL | undefined;
  readonly trustOf: (
    origin: URL,
  ) => Promise<SecureContextOptions & { readonly rejectUnauthorized?: boolean }>;
  readonly setV8Flag?: HttpClientOptions['setV8Flag'];
}

/** Connects until `deadline`, of the monotonic clock, in milliseconds. */
type TimedConnector = (target: Connect.Options, callback: Connect.Callback, deadline: number) => void;

/** The pools of connections of undici, one for each origin: HTTP/1.1 with keep-alive. */
export class OriginPools {
  readonly #options: PoolOptions;
  readonly #pools = new Map<string, Pool>();
  /** The open ones: a pool ends its connections, but one that is not ready yet would keep the process until its deadline. */
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
    const deadlineOf = (): number => performance.now() + connectMs;
    // undici's own limit (`timeout`) is up to a second late, and does not know how long the tunnel took.
    const shared = { ...addressAttempts, timeout: 0 };
    if (origin.protocol !== 'https:') {
      const plain = this.#tracked(buildConnector(shared));
      return (target, callback) => plain(target, callback, deadlineOf());
    }
    const proxy = proxyFor(origin);
    let ready: Promise<TimedConnector> | undefined;
    return (target, callback) => {
      const deadline = deadlineOf();
      ready ??= trustOf(origin).then((trust) => {
        const secure = this.#tracked(buildConnector({ ...shared, ...trust }));
        return proxy === undefined ? secure : this.#tunnelled(origin, proxy, secure);
      });
      ready.then(
        (connect) => connect(target, callback, deadline),
        (error: unknown) => callback(error as Error, null),
      );
    };
  }

  /** undici's own proxy agent drops repeated headers, and fails on passwords with a percent sign. */
  #tunnelled({ hostname, port }: URL, proxy: URL, secure: TimedConnector): TimedConnector {
    const authority = `${hostname}:${port === '' ? 443 : port}`;
    return (target, callback, deadline) => {
      const opening = openTunnel(proxy, authority, deadline - performance.now(), (error, socket) => {
        this.#sockets.delete(opening);
        if (socket !== undefined) secure({ ...target, httpSocket: socket }, callback, deadline);
        else if (error instanceof TunnelRefusedError) callback(error, null);
        else callback(new TunnelError(proxy.host, error as Error), null);
      });
      this.#sockets.add(opening);
    };
  }

  #tracked(connect: Connect.connector): TimedConnector {
    // undici's types do not say that it returns the socket.
    const connectSocket = connect as (...values: Parameters<typeof connect>) => Duplex;
    return (target, callback, deadline) => {
      const host = target.hostname.replace(/^\[|\]$/g, '');
      // undici would ask for the certificate of the host that a `Host` header names.
      const servername = isIP(host) === 0 ? host : '';
      const socket = connectSocket({ ...target, servername }, (...result) => {
        clearTimeout(timer);
        compilingOnce(this.#options.setV8Flag, () => callback(...result));
      });
      const timer = setTimeout(() => socket.destroy(connectTimeout()), deadline - performance.now());
      this.#sockets.add(socket);
      socket.once('close', () => {
        clearTimeout(timer);
        this.#sockets.delete(socket);
      });
      nameOtherHost(socket, host);
    };
  }
}

const wasmFlags = ['wasm-dynamic-tiering', 'wasm-tier-up', 'wasm-lazy-compilation'];

/**
 * V8 compiles the WebAssembly modules that this call makes in whole, and never optimises them. undici makes its parser with the
 * first connection, and optimising it takes 150 ms of CPU for a gain that does not show in 60,000 requests. The flags are changed
 * for this call alone, because V8 refuses code that was compiled under other flags.
 */
function compilingOnce(setFlag: HttpClientOptions['setV8Flag'], call: () => void): void {
  for (const flag of wasmFlags) setFlag?.(`--no-${flag}`);
  try {
    call();
  } finally {
    for (const flag of wasmFlags) setFlag?.(`--${flag}`);
  }
}
