import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../../config/base-url.ts';
import { listenError } from './connection-errors.ts';
import { type PlainResponse, writeResponse } from './plain-response.ts';

export interface PlainRequest {
  readonly method: string;
  /** Path and query as they stood in the request line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the peer. */
  readonly remote: string;
  /** The whole body; undefined when it is larger than `maxBodyBytes`. */
  body(): Promise<Buffer | undefined>;
}

export interface PlainServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM texts; undefined: plain HTTP. */
  readonly tls: { readonly certPem: string; readonly keyPem: string } | undefined;
  /** Whether bodies are compressed for clients that accept it. */
  readonly gzip: boolean;
  readonly maxBodyBytes: number;
  readonly handle: (request: PlainRequest) => Promise<PlainResponse>;
  /** The response where `handle` rejects. */
  readonly onError: (error: unknown) => PlainResponse;
}

export interface PlainServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Cuts what is in flight. */
  close(): Promise<void>;
}

/**
 * A server for clients on this machine: it has none of the limits that a receiver on the open network needs. Rejects
 * with a `ConfigError` or `UsageError` when the address cannot be had.
 */
export async function openPlainServer(options: PlainServerOptions): Promise<PlainServer> {
  const { host, tls, gzip, maxBodyBytes } = options;
  const stop = new AbortController();
  const listener: RequestListener = (request, response) => {
    options
      .handle(readRequest(request, maxBodyBytes))
      .catch(options.onError)
      .then((answer) => writeResponse(answer, request, response, { gzip, signal: stop.signal }))
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
    url: `${tls === undefined ? 'http' : 'https'}://${hostForClients(host, tls !== undefined)}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        stop.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The certificate is for localhost, and nobody can connect to 0.0.0.0. */
function hostForClients(host: string, secure: boolean): string {
  if (secure || host === '::1' || host === '::') return 'localhost';
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function readRequest(request: IncomingMessage, maxBodyBytes: number): PlainRequest {
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
        if (length <= maxBodyBytes) chunks.push(chunk);
        // The rest is read and dropped: a client that is still sending would not see the answer.
        else chunks.length = 0;
      }
      return length > maxBodyBytes ? undefined : Buffer.concat(chunks);
    },
  };
}

/**
 * Whether a request comes from a program on this machine, and not from a page in its browser: the peer must be a
 * loopback address, `Host` must name one (a page could let its own name resolve to us), and `Origin`, which browsers
 * send with requests across origins, must be ours.
 */
export function isFromThisMachine(
  { remote, headers: { host, origin } }: Pick<PlainRequest, 'remote' | 'headers'>,
  ownOrigin: string,
): boolean {
  const hostUrl = `http://${host ?? ''}`;
  return (
    /^(127\.|::1$|::ffff:127\.)/.test(remote) &&
    URL.canParse(hostUrl) &&
    isLoopback(new URL(hostUrl).hostname) &&
    (origin === undefined || isOwnOrigin(origin, new URL(ownOrigin)))
  );
}

/** Every loopback name of this machine is ours, as long as protocol and port are the same. */
function isOwnOrigin(origin: string, own: URL): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port } = new URL(origin);
  return protocol === own.protocol && isLoopback(hostname) && port === own.port;
}
