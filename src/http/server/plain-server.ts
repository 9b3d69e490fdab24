import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../time/clock.ts';
import { listenError } from './connection-errors.ts';
import { type Answer, failure } from './answer.ts';
import { send } from './send-page.ts';

export interface Incoming {
  readonly method: string;
  /** Path and query as they stood in the request line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the peer. */
  readonly remote: string;
  /** The whole body; undefined when it is larger than a sandbox takes. */
  body(): Promise<Buffer | undefined>;
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly gzip: boolean;
  readonly tls: { readonly certPem: string; readonly keyPem: string } | undefined;
  readonly clock: Clock;
  readonly handle: (request: Incoming) => Promise<Answer>;
}

const maxBody = 16 * 1024 * 1024;

/** The socket side. Rejects with a `ConfigError` or `UsageError` when the port cannot be had. */
export async function openServer(
  options: ServerOptions,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const { host, tls } = options;
  const stop = new AbortController();
  const listener: RequestListener = (request, response) => {
    options
      .handle(incoming(request))
      .catch((error: unknown) => failure(500, 'sandbox_bug', String(error)))
      .then((answer) => send(answer, request, response, { ...options, signal: stop.signal }))
      .catch(() => response.destroy());
  };
  const server =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ cert: tls.certPem, key: tls.keyPem }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, options.port)));
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${nameFor(host, tls !== undefined)}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        stop.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What a client on this machine says: the certificate is for localhost, and nobody connects to 0.0.0.0. */
function nameFor(host: string, secure: boolean): string {
  if (secure || host === '::1' || host === '::') return 'localhost';
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function incoming(request: IncomingMessage): Incoming {
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers,
    remote: request.socket.remoteAddress ?? '',
    async body() {
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length <= maxBody) chunks.push(chunk);
        // Read on without keeping it: a client that is still sending would not see the answer.
        else chunks.length = 0;
      }
      return length > maxBody ? undefined : Buffer.concat(chunks);
    },
  };
}
