import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { listenError } from '../http/errors.ts';

export interface SandboxRequest {
  /** GET for a HEAD too: node leaves out the body of its response. */
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface SandboxServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const host = '127.0.0.1';

/**
 * This server has no limits against the open network, because its clients are on this machine. Port 0 is any
 * free one. Rejects with a `ConfigError` or `UsageError` when it cannot listen on the port.
 */
export async function openSandboxServer(
  requestedPort = 0,
  handle: (request: SandboxRequest) => SandboxResponse,
): Promise<SandboxServer> {
  const stop = new AbortController();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: target = '/', headers } = request;
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
    await writeResponse(handle({ method, target, headers }), request, response, stop.signal);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, requestedPort)));
    server.listen(requestedPort, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        stop.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly transmit?: Transmit | undefined;
}

/** A response as it is sent: the body may be compressed, and the headers have no `content-length`. */
export interface Transmission {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

export type Transmit = (transmission: Transmission) => void | Promise<void>;

export const jsonResponse = (
  status: number,
  json: string,
  headers: SandboxResponse['headers'] = {},
): SandboxResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(json),
});

/** Errors are JSON objects with `error` and `message` (specification, section 7). */
export const errorResponse = (
  status: number,
  error: string,
  message: string,
  headers?: SandboxResponse['headers'],
): SandboxResponse => jsonResponse(status, JSON.stringify({ error, message }), headers);

const gzipFromBytes = 1024;

async function writeResponse(
  { status, headers, body, transmit = transmitWhole }: SandboxResponse,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const isCompressed = body.length > gzipFromBytes && acceptsGzip(String(request.headers['accept-encoding']));
  await transmit({
    request,
    response,
    status,
    headers: isCompressed ? { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' } : headers,
    body: isCompressed ? gzipSync(body, { level: 1 }) : body,
    signal,
  });
}

const transmitWhole: Transmit = ({ response, status, headers, body }) => {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(body);
};

/** Whether `gzip` is among the codings, and not with the weight 0, which refuses it (RFC 9110, section 12.5.3). */
const acceptsGzip = (acceptEncoding: string): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/.test(acceptEncoding);
