import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a delivery is answered. A `body` is sent as JSON. */
export interface Answer {
  readonly status: number;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Writes a whole answer in one piece. `last` announces that the connection ends with it. */
export function sendAnswer(response: ServerResponse, answer: Answer, last: boolean): void {
  // These two have no body, and a 204 must not tell its length (RFC 9110, section 8.6).
  const isBare = answer.status === 204 || answer.status === 304;
  const text = isBare || answer.body === undefined ? '' : JSON.stringify(answer.body);
  const headers: string[] = isBare
    ? []
    : ['content-type', 'application/json', 'content-length', `${Buffer.byteLength(text)}`];
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '');
  if (last) headers.push('connection', 'close');
  response.writeHead(answer.status, headers).end(text);
}

/** The same for a request that never became one, so that node has no response object for it. */
export function rawAnswer({ status, body = {}, headers = {} }: Answer): string {
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

/**
 * Ends our side and goes on reading for a moment before it closes: a connection closed on unread bytes is reset, and the
 * reset takes the answer from the client that is still sending (RFC 9112, section 9.6). At most 2 s and 8 MiB.
 */
export function lingeringClose(socket: Socket): void {
  const until = performance.now() + lingerMs;
  const most = socket.bytesRead + lingerBytes;
  // Looked at now and then: a listener for `data` would take the socket out of node's fast path.
  const timer = setInterval(() => {
    if (performance.now() > until || socket.bytesRead > most) socket.destroy();
  }, 50);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
  socket.once('end', () => socket.destroy());
  socket.end();
  socket.resume();
}
