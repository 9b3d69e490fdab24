// Loaded only where the environment names a proxy, since it loads the SOCKS client as well.
import type { Duplex } from 'node:stream';
import type { buildConnector as Connect, Dispatcher } from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { TunnelError } from '../problems.ts';
import { addressAttempts } from './limit-time.ts';
import { proxyAuthorization } from './tunnel.ts';

interface ProxyOptions {
  readonly timeoutMs: number;
  /** Called with each tunnel. */
  readonly onTunnel: (socket: Duplex) => void;
  /** The same connector, whose sockets the agent ends. */
  readonly tracked: (connect: Connect.connector) => Connect.connector;
}

/** The connections to one origin through a proxy. They fail with a `TunnelError` where the proxy opens no tunnel in time. */
export function throughProxy(proxy: URL, { timeoutMs, onTunnel, tracked }: ProxyOptions): Dispatcher {
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const { 'proxy-authorization': token } = proxyAuthorization(proxy);
  return new ProxyAgent({
    ...timeouts,
    // Of its own, undici sends none without a password, and takes no percent sign that begins no code.
    ...(token !== undefined && { token }),
    uri: proxy.href,
    requestTls: { timeout: timeoutMs },
    proxyTls: { ...addressAttempts, timeout: timeoutMs },
    // The pool that undici makes waits five minutes for the proxy's answer.
    clientFactory: (origin, options) => {
      const connect = tracked((options as { connect: Connect.connector }).connect);
      return tunnelOpener(new Pool(origin, { ...options, ...timeouts, connect }), proxy.host, onTunnel);
    },
  });
}

/**
 * undici opens tunnels with `connect`, a method that it adds to its dispatchers in its index, which is not loaded. A
 * request stays queued for a new tunnel, without end, when one fails with undici's own error for a closed connection.
 */
const tunnelOpener = (pool: Pool, proxy: string, onTunnel: ProxyOptions['onTunnel']): Dispatcher =>
  Object.assign(pool, {
    connect: (options: Dispatcher.ConnectOptions) =>
      connect.call(pool, options).then(
        (tunnel) => {
          onTunnel(tunnel.socket);
          return tunnel;
        },
        (error: unknown) => {
          throw new TunnelError(proxy, error as Error);
        },
      ),
  });
