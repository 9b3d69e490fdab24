import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { addressAttempts } from '../http/client/http-client.ts';
import { tunnelAgent } from '../http/client/proxy.ts';
import type { Clock } from '../time/clock.ts';
import { type Endpoint, inTime, type TimeLimit } from './endpoint.ts';

/** A request over a connection of its own. `Host` is added, and `Content-Length` unless it is sent chunked. */
export interface WireRequest {
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly isChunked?: boolean | undefined;
}

/** How the receiver reacted to one request. That no answer came is an outcome too, not an error. */
export interface Answer {
  /** Undefined where no answer came; then `error` says why. */
  readonly status: number | undefined;
  /** A `code` of `Timed`. */
  readonly error: string | undefined;
  /** Names and values of the headers, one on each line. */
  readonly head: string;
  readonly body: Buffer;
  /** False when the body was cut off, or had not ended when the time was up. */
  readonly isWhole: boolean;
  /** From connecting to the end of the answer, in milliseconds. */
  readonly ms: number;
}

export interface ExchangeOptions extends TimeLimit {
  readonly clock: Clock;
}

/** In bytes: what comes after that is not read. */
const longestAnswer = 65_536;

/** The receiver ended the connection, or its process, instead of answering. */
export const isCutOff = ({ error = '' }: Answer): boolean =>
  /^(ECONNRESET|EPIPE|ECONNREFUSED|HPE_.*)$/.test(error);

/** Every error, and the end of the time, is an answer that did not come. */
export async function exchange(
  endpoint: Endpoint,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<Answer> {
  const { clock } = options;
  const startedAt = clock.steady();
  const timed = await inTime(options, async (signal) => {
    const sent = open(endpoint, request, signal);
    // An answer that came while the body was being sent counts, although the connection then breaks.
    sent.on('error', () => undefined);
    try {
      const response = once(sent, 'response', { signal }) as Promise<[IncomingMessage]>;
      writeBody(sent, request);
      const [message] = await response;
      const { statusCode: status, rawHeaders } = message;
      return { ...noAnswer, status, head: rawHeaders.join('\n'), ...(await readStart(message)) };
    } finally {
      sent.destroy();
    }
  });
  const answer = timed.ok ? timed.value : { ...noAnswer, error: timed.code };
  return { ...answer, ms: Math.round(clock.steady() - startedAt) };
}

const noAnswer: Omit<Answer, 'ms'> = {
  status: undefined,
  error: undefined,
  head: '',
  body: Buffer.alloc(0),
  isWhole: false,
};

function open(
  { url, isSecure, tls, proxy }: Endpoint,
  { method, headers, body, isChunked }: WireRequest,
  signal: AbortSignal,
): ClientRequest {
  const length = isChunked === true ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', `${body.length}`];
  // Without a body there is nothing to announce, unless the method expects one (RFC 9110, section 8.6).
  const framing = body.length === 0 && method === 'GET' ? [] : length;
  const wire = ['Host', url.host, ...headers.flat(), ...framing, 'Connection', 'close'];
  const options = { ...addressAttempts, method, headers: wire, signal, agent: false } as const;
  if (!isSecure) return requestPlain(url, options);
  const agent = proxy === undefined ? false : tunnelAgent(proxy, tls);
  return requestSecure(url, { ...tls, ...options, agent });
}

/** A chunked body is sent in two chunks. */
function writeBody(sent: ClientRequest, { body, isChunked }: WireRequest): void {
  const firstLength = isChunked === true ? Math.ceil(body.length / 2) : 0;
  if (firstLength > 0) sent.write(body.subarray(0, firstLength));
  sent.end(body.subarray(firstLength));
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
