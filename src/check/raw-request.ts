import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import { addressAttempts, limitTime, type TimeLimit } from '../http/client/limit-time.ts';
import { tunnelAgent } from '../http/client/tunnel.ts';
import type { Clock } from '../time/clock.ts';
import { type Endpoint, openSocket } from './endpoint.ts';

/** One request, sent over a connection of its own; `host` is added, and `content-length` unless it is sent chunked. */
export interface WireRequest {
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Added to the endpoint's own. */
  readonly query?: string | undefined;
  readonly body: Uint8Array;
  /** Sends the body with `Transfer-Encoding: chunked`, in two chunks. */
  readonly isChunked?: boolean | undefined;
  /** Sends the body in five pieces over so many milliseconds. */
  readonly sentWithinMs?: number | undefined;
}

export interface ExchangeOptions {
  /** From connecting to the end of the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const pieces = 5;

/** Sends a request and waits for the answer, at most `timeoutMs`. Never rejects, whatever comes back. */
export function exchange(
  endpoint: Endpoint,
  request: WireRequest,
  { timeoutMs, signal, clock }: ExchangeOptions,
): Promise<Answer> {
  const startedAt = clock.steady();
  const elapsed = (): number => Math.round(clock.steady() - startedAt);
  const limit = limitTime(timeoutMs, signal);
  return new Promise<Answer>((resolve) => {
    let sent: ClientRequest | undefined;
    let hasHead = false;
    const finish = (answer: Answer): void => {
      limit.clear();
      resolve(answer);
      sent?.destroy();
    };
    const fail = (error: NodeJS.ErrnoException): void => {
      // An answer that came while the body was still being sent counts, although the connection then breaks.
      if (!hasHead) finish({ answered: false, code: codeOf(error, limit), ms: elapsed() });
    };
    const onAnswer = (message: IncomingMessage): void => {
      hasHead = true;
      void readStart(message, limit.signal).then(({ body, isWhole }) => {
        const { statusCode: status = 0, rawHeaders } = message;
        finish({ answered: true, status, headers: pairs(rawHeaders), body, isWhole, ms: elapsed() });
      });
    };
    try {
      sent = open(endpoint, request, limit.signal, onAnswer);
      sent.on('error', fail);
      void writeBody(sent, request, clock, limit.signal);
    } catch (error) {
      // Node throws for a header that HTTP cannot carry.
      fail(error as Error);
    }
  });
}

function open(
  { url: endpoint, isSecure, tls, proxy }: Endpoint,
  { method, headers, query, body, isChunked }: WireRequest,
  signal: AbortSignal,
  onAnswer: (message: IncomingMessage) => void,
): ClientRequest {
  const length = isChunked === true ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', `${body.length}`];
  const url = withQuery(endpoint, query);
  // Without a body there is nothing to announce, unless the method expects one (RFC 9110, section 8.6).
  const framing = body.length === 0 && method === 'GET' ? [] : length;
  const wire = ['Host', url.host, ...headers.flat(), ...framing, 'Connection', 'close'];
  const options = { ...addressAttempts, method, headers: wire, signal, agent: false } as const;
  if (!isSecure) return requestPlain(url, options, onAnswer);
  const agent = proxy === undefined ? false : tunnelAgent(proxy, tls);
  return requestSecure(url, { ...tls, ...options, agent }, onAnswer);
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
  if (sentWithinMs === undefined) {
    const middle = isChunked === true ? Math.floor(body.length / 2) : 0;
    if (middle > 0) sent.write(body.subarray(0, middle));
    sent.end(body.subarray(middle));
    return;
  }
  const size = Math.ceil(body.length / pieces);
  for (let start = 0; start < body.length && !sent.destroyed; start += size) {
    sent.write(body.subarray(start, start + size));
    try {
      await clock.sleep(sentWithinMs / pieces, signal);
    } catch {
      return;
    }
  }
  sent.end();
}

/** What was received of the body until it ended, reached the limit, was cut off, or took too long. */
function readStart(
  message: IncomingMessage,
  signal: AbortSignal,
): Promise<{ readonly body: Buffer; readonly isWhole: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (isWhole: boolean): void =>
      resolve({ body: Buffer.concat(chunks).subarray(0, keptBytes), isWhole });
    message.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= keptBytes) finish(true);
    });
    message.on('end', () => finish(true));
    message.on('error', () => finish(false));
    message.on('close', () => finish(message.complete));
    signal.addEventListener('abort', () => finish(false), { once: true });
  });
}

const codeOf = (error: NodeJS.ErrnoException, limit: TimeLimit): string =>
  limit.reason() ?? error.code ?? error.name;

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
}

/** Sends bytes that need not be HTTP, and reads the head of what comes back. Never rejects. */
export async function rawExchange(
  endpoint: Endpoint,
  bytes: string,
  { timeoutMs, signal, clock }: ExchangeOptions,
): Promise<Answer> {
  const startedAt = clock.steady();
  const limit = limitTime(timeoutMs, signal);
  const ms = (): number => Math.round(clock.steady() - startedAt);
  try {
    const socket = await openSocket(endpoint, limit.signal);
    socket.write(bytes, 'latin1');
    const came = await readHead(socket);
    socket.destroy();
    const status = /^HTTP\/1\.[01] (\d{3})[ \r\n]/.exec(came.toString('latin1'))?.[1];
    if (status === undefined) return { answered: false, code: limit.reason() ?? 'closed', ms: ms() };
    const start = came.indexOf('\r\n\r\n');
    const body = start < 0 ? Buffer.alloc(0) : came.subarray(start + 4);
    return { answered: true, status: Number(status), headers: [], body, isWhole: true, ms: ms() };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { answered: false, code: limit.reason() ?? code ?? name, ms: ms() };
  } finally {
    limit.clear();
  }
}

/** Until the head has ended, the connection has, or enough came. A time limit ends the connection. */
function readHead(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const all = (): Buffer => Buffer.concat(chunks).subarray(0, keptBytes);
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= keptBytes || all().includes('\r\n\r\n')) resolve(all());
    });
    socket.on('end', () => resolve(all()));
    socket.on('close', () => resolve(all()));
  });
}

/** What came back for one request of a probe. That nothing came is an outcome, not an error. */
export type Answer =
  | {
      readonly answered: true;
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      /** The first 64 KiB of the body. */
      readonly body: Buffer;
      /** False when the body had not ended, and was still shorter than that, when the time was up. */
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

/** Of an answer's body, in bytes: no receiver can fill the memory. */
const keptBytes = 65_536;

/** The receiver ended the connection, or its process, instead of answering. */
export const isCutOff = (answer: Answer): boolean =>
  !answer.answered && /^(ECONNRESET|EPIPE|ECONNREFUSED|HPE_.*|closed)$/.test(answer.code);
