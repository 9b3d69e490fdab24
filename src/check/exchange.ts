import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { addressAttempts, limitTime } from '../http/client/limit-time.ts';
import { tunnelAgent } from '../http/client/tunnel.ts';
import type { Clock } from '../time/clock.ts';
import { type Endpoint, openSocket } from './endpoint.ts';

/** A request that is sent over a connection of its own; `host` is added, and `content-length` unless it is sent chunked. */
export interface WireRequest {
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly query?: string | undefined;
  readonly body: Uint8Array;
  readonly isChunked?: boolean | undefined;
  readonly sentWithinMs?: number | undefined;
}

/** The receiver's reaction to one request of a probe. That nothing came is an outcome, not an error. */
export type Answer =
  | {
      readonly answered: true;
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: Buffer;
      /** False when the body was cut off, or had not ended when the time was up. */
      readonly isWhole: boolean;
      /** From connecting to the end of the answer, in milliseconds. */
      readonly ms: number;
    }
  | {
      readonly answered: false;
      /** `timeout`, `aborted`, or the system's, node's or TLS's own code such as `ECONNRESET`. */
      readonly code: string;
      readonly ms: number;
    };

export interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const keptBytes = 65_536;

/** The receiver ended the connection, or its process, instead of answering. */
export const isCutOff = (answer: Answer): boolean =>
  !answer.answered && /^(ECONNRESET|EPIPE|ECONNREFUSED|HPE_.*|closed)$/.test(answer.code);

export function exchange(
  endpoint: Endpoint,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<Answer> {
  return withinLimit(options, async (signal, elapsed) => {
    const sent = open(endpoint, request, signal);
    // An answer that came while the body was being sent counts, although the connection then breaks.
    sent.on('error', () => undefined);
    try {
      const answer = once(sent, 'response', { signal }) as Promise<[IncomingMessage]>;
      void writeBody(sent, request, options.clock, signal);
      const [message] = await answer;
      const { statusCode: status = 0, rawHeaders } = message;
      const start = await readStart(message);
      return { answered: true, status, headers: pairs(rawHeaders), ...start, ms: elapsed() };
    } finally {
      sent.destroy();
    }
  });
}

export function exchangeBytes(endpoint: Endpoint, bytes: string, options: ExchangeOptions): Promise<Answer> {
  return withinLimit(options, async (signal, elapsed) => {
    const socket = await openSocket(endpoint, signal);
    socket.write(bytes, 'latin1');
    let text = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n') || text.length >= keptBytes) break;
    }
    const status = /^HTTP\/1\.[01] (\d{3})[ \r\n]/.exec(text)?.[1];
    if (status === undefined) return { answered: false, code: 'closed', ms: elapsed() };
    const empty = { headers: [], body: Buffer.alloc(0), isWhole: true };
    return { answered: true, status: Number(status), ...empty, ms: elapsed() };
  });
}

/** Turns every error, and the end of the time, into an answer that did not come. */
async function withinLimit(
  { timeoutMs, signal, clock }: ExchangeOptions,
  work: (signal: AbortSignal, elapsed: () => number) => Promise<Answer>,
): Promise<Answer> {
  const startedAt = clock.steady();
  const elapsed = (): number => Math.round(clock.steady() - startedAt);
  const limit = limitTime(timeoutMs, signal);
  try {
    return await work(limit.signal, elapsed);
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { answered: false, code: limit.reason() ?? code ?? name, ms: elapsed() };
  } finally {
    limit.clear();
  }
}

function open(
  { url: endpoint, isSecure, tls, proxy }: Endpoint,
  { method, headers, query, body, isChunked }: WireRequest,
  signal: AbortSignal,
): ClientRequest {
  const length = isChunked === true ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', `${body.length}`];
  const url = withQuery(endpoint, query);
  // Without a body there is nothing to announce, unless the method expects one (RFC 9110, section 8.6).
  const framing = body.length === 0 && method === 'GET' ? [] : length;
  const wire = ['Host', url.host, ...headers.flat(), ...framing, 'Connection', 'close'];
  const options = { ...addressAttempts, method, headers: wire, signal, agent: false } as const;
  if (!isSecure) return requestPlain(url, options);
  const agent = proxy === undefined ? false : tunnelAgent(proxy, tls);
  return requestSecure(url, { ...tls, ...options, agent });
}

export function withQuery(endpoint: URL, query: string | undefined): URL {
  if (query === undefined) return endpoint;
  const url = new URL(endpoint);
  url.search = url.search === '' ? query : `${url.search}&${query}`;
  return url;
}

async function writeBody(
  sent: ClientRequest,
  { body, isChunked, sentWithinMs }: WireRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const pieces = sentWithinMs === undefined ? (isChunked === true ? 2 : 1) : 5;
  const size = Math.max(1, Math.ceil(body.length / pieces));
  try {
    for (let start = 0; start < body.length && !sent.destroyed; start += size) {
      sent.write(body.subarray(start, start + size));
      if (sentWithinMs !== undefined) await clock.sleep(sentWithinMs / pieces, signal);
    }
    sent.end();
  } catch {
    // The time is up, which ends the request as well.
  }
}

async function readStart(
  message: IncomingMessage,
): Promise<{ readonly body: Buffer; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isWhole = true;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= keptBytes) break;
    }
  } catch {
    isWhole = false;
  }
  return { body: Buffer.concat(chunks).subarray(0, keptBytes), isWhole };
}

const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
