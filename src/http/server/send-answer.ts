import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** A response to send: `body` goes as JSON, unless a `text` takes its place. */
export interface Answer {
  readonly status: number;
  readonly body?: object | undefined;
  readonly text?: { readonly type: string; readonly content: string | Uint8Array } | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

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

/** Whether `gzip` is among the codings, and not with the weight 0, which refuses it (RFC 9110, section 12.5.3). */
export const acceptsGzip = (acceptEncoding: string): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/.test(acceptEncoding);

/** The bytes of an answer to a request that could not be parsed, for which node has no response object. */
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
const lingerCheckMs = 50;

/**
 * Ends our side of a connection and continues to read for at most 2 s and 8 MiB before it closes. Closing it with unread
 * bytes would reset it, and a client that is still sending would lose the answer (RFC 9112, section 9.6).
 */
export function lingeringClose(socket: Socket): void {
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
