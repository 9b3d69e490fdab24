import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { addressAttempts } from '../http/client/http-client.ts';
import { tunnelAgent } from '../http/client/proxy.ts';
import type { Clock } from '../time/clock.ts';
import { type Endpoint, limitTime, openSocket } from './endpoint.ts';

/** A request over a connection of its own. `Host` is added, and `Content-Length` unless it is sent chunked. */
export interface WireRequest {
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly query?: string | undefined;
  readonly body: Uint8Array;
  readonly isChunked?: boolean | undefined;
  /** The body is sent in pieces over this time. */
  readonly sentWithinMs?: number | undefined;
}

/** How the receiver reacted to one request. That no answer came is an outcome too, not an error. */
export interface Answer {
  /** Undefined where no answer came; then `error` says why. */
  readonly status: number | undefined;
  /** `timeout`, `aborted`, or the code of the system, of node or of TLS such as `ECONNRESET`. */
  readonly error: string | undefined;
  /** Names and values of the headers, one on each line. */
  readonly head: string;
  readonly body: Buffer;
  /** False when the body was cut off, or had not ended when the time was up. */
  readonly isWhole: boolean;
  /** From connecting to the end of the answer, in milliseconds. */
  readonly ms: number;
}

export interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** In bytes: what comes after that is not read. */
const longestAnswer = 65_536;

/** The receiver ended the connection, or its process, instead of answering. */
export const isCutOff = ({ error = '' }: Answer): boolean =>
  /^(ECONNRESET|EPIPE|ECONNREFUSED|HPE_.*|closed)$/.test(error);

export const exchange = (
  endpoint: Endpoint,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<Answer> =>
  answerInTime(options, async (signal) => {
    const sent = open(endpoint, request, signal);
    // An answer that came while the body was being sent counts, although the connection then breaks.
    sent.on('error', () => undefined);
    try {
      const response = once(sent, 'response', { signal }) as Promise<[IncomingMessage]>;
      void writeBody(sent, request, options.clock, signal);
      const [message] = await response;
      const { statusCode: status, rawHeaders } = message;
      return { ...noAnswer, status, head: rawHeaders.join('\n'), ...(await readStart(message)) };
    } finally {
      sent.destroy();
    }
  });

/** Sends bytes that may not be HTTP. Of an answer, only its status is read. */
export const exchangeBytes = (endpoint: Endpoint, bytes: string, options: ExchangeOptions): Promise<Answer> =>
  answerInTime(options, async (signal) => {
    const socket = await openSocket(endpoint, signal);
    socket.write(bytes, 'latin1');
    let text = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n') || text.length >= longestAnswer) break;
    }
    const status = /^HTTP\/1\.[01] (\d{3})[ \r\n]/.exec(text)?.[1];
    if (status === undefined) return { ...noAnswer, error: 'closed' };
    return { ...noAnswer, status: Number(status), isWhole: true };
  });

const noAnswer: Omit<Answer, 'ms'> = {
  status: undefined,
  error: undefined,
  head: '',
  body: Buffer.alloc(0),
  isWhole: false,
};

/** Turns every error, and the end of the time, into an answer that did not come. */
async function answerInTime(
  { timeoutMs, signal, clock }: ExchangeOptions,
  work: (signal: AbortSignal) => Promise<Omit<Answer, 'ms'>>,
): Promise<Answer> {
  const startedAt = clock.steady();
  const limit = limitTime(timeoutMs, signal);
  const answer = await work(limit.signal).catch((error: unknown) => {
    const { code, name } = error as NodeJS.ErrnoException;
    return { ...noAnswer, error: limit.reason() ?? code ?? name };
  });
  limit.clear();
  return { ...answer, ms: Math.round(clock.steady() - startedAt) };
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
  const chunks = isChunked === true ? 2 : 1;
  const pieces = sentWithinMs === undefined ? chunks : 5;
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

async function readStart(message: IncomingMessage): Promise<Pick<Answer, 'body' | 'isWhole'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isWhole = true;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= longestAnswer) break;
    }
  } catch {
    isWhole = false;
  }
  return { body: Buffer.concat(chunks).subarray(0, longestAnswer), isWhole };
}
