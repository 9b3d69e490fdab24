import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Answer } from './answer.ts';

export interface Incoming {
  readonly method: string;
  /** Path and query as they stood in the request line. */
  readonly target: string;
  readonly authorization: string | undefined;
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly gzip: boolean;
  readonly handle: (request: Incoming) => Answer;
}

/** The socket side. Rejects with the system's error when the port cannot be had. */
export async function openServer(
  options: ServerOptions,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = options.handle({
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      authorization: request.headers.authorization,
    });
    send(answer, request, response, options.gzip);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(answer: Answer, request: IncomingMessage, response: ServerResponse, gzip: boolean): void {
  const accepted = request.headers['accept-encoding'] ?? '';
  const packed = gzip && answer.body.length > 1024 && /\bgzip\b(?!\s*;\s*q=0(\.0+)?\b)/.test(accepted);
  const body = packed ? gzipSync(answer.body, { level: 1 }) : answer.body;
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(packed && { 'content-encoding': 'gzip', vary: 'accept-encoding' }),
    'content-length': body.length,
  });
  response.end(body);
}
