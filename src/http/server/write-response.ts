import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { PlainResponse, Transmit } from './plain-response.ts';

/** Below this, compression saves nothing. */
const gzipFromBytes = 1024;

/** Compresses the body for clients that accept it, and sends the response in the way that it names. */
export async function writeResponse(
  { status, headers, body, transmit = transmitWhole }: PlainResponse,
  request: IncomingMessage,
  response: ServerResponse,
  { gzip, signal }: { readonly gzip: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const packed = gzip && body.length > gzipFromBytes && acceptsGzip(request.headers['accept-encoding']);
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

export function acceptsGzip(header: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/.test(String(header ?? ''));
}
