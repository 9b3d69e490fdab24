import { rejection, type Rejection } from '../../webhook/rejection.ts';

/** The parts of a valid request head that are used later. */
export interface RequestHead {
  readonly rawHeaders: readonly (readonly [string, string])[];
  readonly host: string;
  /** Declared length of the body; undefined when it comes in chunks. */
  readonly length: number | undefined;
}

/**
 * Reads the request head that node parsed, and rejects what node's parser accepts: more headers than allowed, of which node
 * would drop the rest silently; a second `Host` or `Content-Length`; a transfer coding other than `chunked`.
 */
export function validateHeaders(
  request: { readonly rawHeaders: readonly string[]; readonly httpVersion: string },
  limits: { readonly headers: number; readonly bodyBytes: number },
): RequestHead | Rejection {
  const raw = request.rawHeaders;
  if (raw.length > limits.headers * 2) {
    return rejection('too_many_headers', `more than ${limits.headers} headers`);
  }
  const rawHeaders: (readonly [string, string])[] = [];
  let host: string | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const value = raw[i + 1] ?? '';
    rawHeaders.push([name, value]);
    // Comparing lengths first spares most names the lower-casing.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      if (host !== undefined) return rejection('malformed_request', 'two Host headers');
      host = value;
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined) return rejection('malformed_request', 'two Content-Length headers');
      length = value;
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      coding = coding === undefined ? value : `${coding}, ${value}`;
    }
  }
  if (host === undefined && request.httpVersion !== '1.0')
    return rejection('malformed_request', 'no Host header');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return rejection('malformed_request', 'a transfer coding other than chunked');
  }
  if (coding !== undefined && length !== undefined) {
    return rejection('malformed_request', 'both Content-Length and Transfer-Encoding');
  }
  const declared = length === undefined ? 0 : Number(length);
  if (declared > limits.bodyBytes) return tooLarge(limits.bodyBytes);
  return { rawHeaders, host: host ?? '', length: coding === undefined ? declared : undefined };
}

export const tooLarge = (limit: number): Rejection =>
  rejection('too_large', `the body is larger than ${limit} bytes`);
