import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Delivery } from '../../webhook/delivery.ts';
import { answerForOutcome, type Rejection, rejection } from '../../webhook/delivery-answer.ts';
import { awaitsAnswer, type Connection, hasSentRequestBytes } from './connections.ts';
import type { Answer, Exchange, Limits, ServerState } from './server-options.ts';

export function sendAnswer(response: ServerResponse, answer: Answer, isLast: boolean): void {
  // These two have no body, and a 204 must not have a Content-Length (RFC 9110, section 8.6).
  const hasNoBody = answer.status === 204 || answer.status === 304;
  const { type, content } = answer.text ?? jsonText(hasNoBody ? undefined : answer.body);
  const headers: string[] = hasNoBody
    ? []
    : ['content-type', type, 'content-length', String(Buffer.byteLength(content))];
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '');
  if (isLast) headers.push('connection', 'close');
  response.writeHead(answer.status, headers).end(content);
}

const jsonText = (body: object | undefined): NonNullable<Answer['text']> => ({
  type: 'application/json',
  content: body === undefined ? '' : JSON.stringify(body),
});

export const withHeaders = <A extends Pick<Answer, 'headers'>>(answer: A, headers: Answer['headers']): A =>
  headers === undefined ? answer : { ...answer, headers: { ...headers, ...answer.headers } };

/** The bytes of an answer to a request that could not be parsed, for which node has no response object. */
function rawAnswer({ status, body = {}, headers = {} }: Answer): string {
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
    '',
    text,
  ].join('\r\n');
}

const lingerMs = 2_000;
const lingerBytes = 8 * 1024 * 1024;
const lingerCheckMs = 50;

/**
 * Ends our side of a connection and continues to read for at most 2 s and 8 MiB before it closes. Closing it with unread
 * bytes would reset it, and a client that is still sending would lose the answer (RFC 9112, section 9.6).
 */
function lingeringClose(socket: Socket): void {
  const deadline = performance.now() + lingerMs;
  const maxBytesRead = socket.bytesRead + lingerBytes;
  // Polled, because a listener for `data` would take the socket out of node's fast path.
  const timer = setInterval(() => {
    if (performance.now() > deadline || socket.bytesRead > maxBytesRead) socket.destroy();
  }, lingerCheckMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
  socket.once('end', () => socket.destroy());
  socket.end();
  socket.resume();
}

/**
 * Answers a request whose body is not wanted, or not further, and closes its connection. `received` is the request with
 * what there is of its body, where its headers were valid.
 */
export function rejectRequest(
  exchange: Exchange,
  rejected: Rejection,
  received: Partial<Delivery> = requestLineOf(exchange.request),
): void {
  closeAfterAnswer(exchange.connection);
  sendAnswer(exchange.response, answerTo(rejected, exchange.state), true);
  reportRejected(exchange, rejected, received);
}

/** Makes the next answer the last on its connection; the client can read it although it is still sending. */
export function closeAfterAnswer(connection: Connection): void {
  const { socket } = connection;
  connection.isClosing = true;
  // Node would close at once, with bytes that the client still sends unread.
  socket.destroySoon = () => lingeringClose(socket);
}

export function reportRejected(
  { state, connection }: Pick<Exchange, 'state' | 'connection'>,
  rejected: Rejection,
  received: Partial<Delivery>,
): void {
  const { remote } = connection;
  const emptyParts = { method: '', path: '', url: '', rawHeaders: [], body: new Uint8Array() };
  const receivedAt = state.options.clock.now();
  state.options.onRejected?.(rejected, { ...emptyParts, remote, receivedAt, ...received });
}

export const requestLineOf = ({ method = '', url = '' }: IncomingMessage): Partial<Delivery> => ({
  method,
  path: url,
});

/**
 * Rejects what a connection received and node did not make a request of: bytes that are not HTTP/1.1, a request that is too slow,
 * or a CONNECT. The connection is closed. The client gets the rejection, unless it would take it for the answer to an earlier
 * request.
 */
export function rejectConnection(
  state: ServerState,
  connection: Connection,
  rejected: Rejection,
  received: Partial<Delivery> = {},
): void {
  const { socket } = connection;
  const isTooSlow = rejected.reason === 'too_slow';
  if (isTooSlow && !hasSentRequestBytes(connection)) {
    // There is no request that could be answered or reported.
    connection.isClosing = true;
    socket.destroy();
    return;
  }
  closeAfterAnswer(connection);
  reportRejected({ state, connection }, rejected, received);
  // The earlier request is answered first, and its answer is the last one on this connection.
  if (awaitsAnswer(connection) && socket.writable) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(rawAnswer(answerTo(rejected, state)));
  lingeringClose(socket);
}

const answerTo = (rejected: Rejection, { options }: Pick<ServerState, 'options'>): Answer =>
  withHeaders((options.rejectionAnswer ?? answerForOutcome)(rejected), options.headers);

/** The first byte of a TLS connection (RFC 8446, section 5.1). */
const tlsHandshakeRecord = 0x16;

export type ParserError = Error & { code?: string; reason?: string; rawPacket?: Buffer };

/** The answer to an error of the HTTP parser or a time-out; undefined when the client cannot be answered any more. */
export function rejectionFor(error: ParserError, limits: Limits): Rejection | undefined {
  const { code = '', reason, rawPacket } = error;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow(limits);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return rejection('too_many_headers', `headers larger than ${limits.headerBytes} bytes`);
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return rejection('too_large', 'chunk extensions are too large');
  }
  if (code === 'HPE_PAUSED') {
    return rejection('overloaded', 'the client sends more requests than it reads answers');
  }
  // The connection broke, or the client ended it within a request.
  if (!code.startsWith('HPE_') || code === 'HPE_INVALID_EOF_STATE') return undefined;
  const isTls = rawPacket?.[0] === tlsHandshakeRecord;
  return rejection(
    'malformed_request',
    isTls ? 'TLS on a plain HTTP port' : `not HTTP/1.1: ${reason ?? code}`,
  );
}

export const tooSlow = (limits: Limits): Rejection =>
  rejection('too_slow', `the request was not complete within ${limits.requestMs / 1000} s`);
