import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A whole response of the plain server. */
export interface PlainResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** How its bytes are sent; default: at once and whole. */
  readonly transmit?: Transmit | undefined;
}

/** A response that is ready to be sent. */
export interface Transmission {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly status: number;
  /** Without `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Compressed already, where it is to be. */
  readonly body: Uint8Array;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

export type Transmit = (transmission: Transmission) => void | Promise<void>;

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): PlainResponse {
  return jsonBytesResponse(status, Buffer.from(JSON.stringify(value)), headers);
}

/** For bodies that hold records in their own bytes. */
export function jsonBytesResponse(
  status: number,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): PlainResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** Errors are JSON objects with `error` and `message` (specification, section 7). */
export function errorResponse(
  status: number,
  error: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): PlainResponse {
  return jsonResponse(status, { error, message }, headers);
}

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
