import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { listenError } from '../http/errors.ts';
import { acceptsGzip } from '../http/server/send-answer.ts';

export interface PlainRequest {
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
 * This server has no limits against the open network, because its clients are on this machine. Rejects with a
 * `ConfigError` or `UsageError` when it cannot listen on the port.
 */
export async function openSandboxServer(
  wantedPort = 0,
  handle: (request: PlainRequest) => PlainResponse,
): Promise<SandboxServer> {
  const stop = new AbortController();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url: target = '/', headers } = request;
    await writeResponse(handle({ method, target, headers }), request, response, stop.signal);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, wantedPort)));
    server.listen(wantedPort, host, resolve);
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
  signal: AbortSignal,
): Promise<void> {
  const packed = body.length > gzipFromBytes && acceptsGzip(String(request.headers['accept-encoding']));
  await transmit({
    request,
    response,
    status,
    headers: packed ? { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' } : headers,
    body: packed ? gzipSync(body, { level: 1 }) : body,
    signal,
  });
}

const transmitWhole: Transmit = ({ response, status, headers, body }) => {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(body);
};
