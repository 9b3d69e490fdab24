import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { isLoopback } from '../config/base-url.ts';
import { listenError } from '../http/errors.ts';
import { acceptsGzip } from '../http/server/send-answer.ts';
import type { SandboxOptions } from './sandbox-options.ts';

export interface PlainRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly remote: string;
  body(): Promise<Buffer>;
}

export interface SandboxServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * This server has no limits against the open network, because its clients are on this machine. Rejects with a
 * `ConfigError` or `UsageError` when it cannot listen on the address.
 */
export async function openSandboxServer(
  { host = '127.0.0.1', port: wantedPort = 0, tls }: Pick<SandboxOptions, 'host' | 'port' | 'tls'>,
  gzip: boolean,
  handle: (request: PlainRequest) => Promise<PlainResponse>,
): Promise<SandboxServer> {
  const stop = new AbortController();
  const listener: RequestListener = (request, response) => {
    handle({
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: request.headers,
      remote: request.socket.remoteAddress ?? '',
      body: () => buffer(request),
    })
      .catch((error: unknown) => errorResponse(500, 'sandbox_bug', String(error)))
      .then((answer) => writeResponse(answer, request, response, { gzip, signal: stop.signal }))
      .catch(() => response.destroy());
  };
  const server =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ cert: tls.certPem, key: tls.keyPem }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, wantedPort)));
    server.listen(wantedPort, host, resolve);
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

/** The certificate is for localhost, and no client can connect to 0.0.0.0. */
function hostForClients(host: string, secure: boolean): string {
  if (secure || host === '::1' || host === '::') return 'localhost';
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Accepts programs on this machine, but no page in its browser: the peer must be a loopback address, `Host`
 * must name one (a page could let its own name resolve to us), and `Origin`, which browsers send with requests
 * to other origins, must be ours.
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

/** Every loopback name of this machine is ours, if protocol and port are the same. */
function isOwnOrigin(origin: string, server: URL): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port } = new URL(origin);
  return protocol === server.protocol && isLoopback(hostname) && port === server.port;
}

export interface PlainResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly transmit?: Transmit | undefined;
}

export interface Transmission {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly status: number;
  /** Without `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export type Transmit = (transmission: Transmission) => void | Promise<void>;

export const jsonResponse = (
  status: number,
  value: unknown,
  headers?: PlainResponse['headers'],
): PlainResponse => jsonTextResponse(status, JSON.stringify(value), headers);

export const jsonTextResponse = (
  status: number,
  json: string,
  headers: PlainResponse['headers'] = {},
): PlainResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(json),
});

/** Errors are JSON objects with `error` and `message` (specification, section 7). */
export const errorResponse = (
  status: number,
  error: string,
  message: string,
  headers?: PlainResponse['headers'],
): PlainResponse => jsonResponse(status, { error, message }, headers);

const gzipFromBytes = 1024;

async function writeResponse(
  { status, headers, body, transmit = transmitWhole }: PlainResponse,
  request: IncomingMessage,
  response: ServerResponse,
  { gzip, signal }: { readonly gzip: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const packed =
    gzip && body.length > gzipFromBytes && acceptsGzip(String(request.headers['accept-encoding']));
  await transmit({
    request,
    response,
    status,
    headers: packed ? { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' } : headers,
    body: packed ? gzipSync(body, { level: 1 }) : body,
    signal,
  });
}

const transmitWhole: Transmit = ({ request, response, status, headers, body }) => {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
};
