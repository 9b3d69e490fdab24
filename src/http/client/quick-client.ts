import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import {
  addressAttempts,
  answerHeaders,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
} from './http-client.ts';
import { proxyFor, withoutBrackets } from './proxy.ts';
import { loopbackAuthorities, nameOtherHost } from './trust.ts';

type CloseConnection = (why: Error) => void;

/**
 * The client of a run that as a rule sends one request. undici is loaded for the second one, for a request with a body, and
 * where the environment names a proxy.
 */
export function createQuickClient(options: HttpClientOptions): HttpClient {
  const openConnections = new Set<CloseConnection>();
  let isFirst = true;
  let agent: Promise<HttpClient> | undefined;
  return {
    async request(request) {
      const { origin, method, body } = request;
      const isPlain = (method === 'GET' || method === 'HEAD') && body === undefined;
      if (isFirst && isPlain && proxyFor(new URL(origin), options.env) === undefined) {
        isFirst = false;
        return sendAlone(request, options, openConnections);
      }
      agent ??= import('./agent.ts').then(({ createAgent }) => createAgent(options));
      return (await agent).request(request);
    },
    async destroy() {
      for (const close of openConnections) close(failure('UND_ERR_DESTROYED', 'The client is destroyed'));
      await (await agent)?.destroy();
    },
  };
}

/**
 * Sends one GET or HEAD without a body by node's client, over a connection of its own: loading undici takes longer than a
 * request. Limits and failures are undici's, under its codes. Knows no proxy. The connection is in `openConnections` until it
 * ends. Each phase begins its time limit: connecting, then the headers of the answer, then its body. `answer` is set once its
 * headers came. `socketError` is kept for the reader of the body, to whom node does not report every failure.
 */
async function sendAlone(
  request: HttpRequest,
  options: HttpClientOptions,
  openConnections: Set<CloseConnection>,
): Promise<HttpAnswer> {
  const { signal } = request;
  const url = new URL(request.origin);
  const isSecure = url.protocol === 'https:';
  const host = withoutBrackets(url.hostname);
  const ca = isSecure ? await loopbackAuthorities(url, options) : [];
  signal?.throwIfAborted();
  const sent = isSecure
    ? requestSecure({ ...nodeOptions(request, url.port, host), ...secureOptions(ca) })
    : requestPlain(nodeOptions(request, url.port, host));
  // No limit: node leaves out the headers beyond it without an error, and undici does not.
  sent.maxHeadersCount = 0;
  let answer: IncomingMessage | undefined;
  let socketError: Error | undefined;
  const close: CloseConnection = (why) => (answer ?? sent).destroy(why);
  const abort = (): void => close(signal?.reason as Error);
  const hasUnreadData = (): boolean => (answer?.readableLength ?? 0) > 0;
  const limit = limitPhases(options.timeoutMs, close, hasUnreadData);
  limit.begin('Connect');
  openConnections.add(close);
  signal?.addEventListener('abort', abort);
  sent.once('close', () => {
    limit.end();
    openConnections.delete(close);
    signal?.removeEventListener('abort', abort);
  });
  sent.once('socket', (socket) => {
    if (isSecure) nameOtherHost(socket, host);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => limit.begin('Headers'));
    socket.on('data', () => {
      if (answer !== undefined) limit.extend();
    });
  });
  sent.end();
  return new Promise((resolve, reject) => {
    sent.on('error', (error) => {
      socketError = asUndici(error);
      reject(socketError);
    });
    sent.once('close', () => reject(socketClosed()));
    sent.once('response', (received) => {
      answer = received;
      limit.begin('Body');
      // The reader of the body gets this error; without a listener it would end the process.
      received.on('error', () => undefined);
      resolve({
        status: received.statusCode ?? 0,
        statusText: received.statusMessage ?? '',
        ...answerHeaders(received.rawHeaders),
        body: bodyOf(received, sent, () => socketError),
        discard: () => Promise.resolve(void received.destroy()),
      });
    });
  });
}

const nodeOptions = ({ path, method, headers }: HttpRequest, port: string, hostname: string) => ({
  hostname,
  port,
  path,
  method,
  // undici asks for the same: after `close`, a server may end a body by nothing but the end of the connection.
  headers: { ...headers, connection: 'keep-alive' },
  agent: false,
  ...addressAttempts,
});

const secureOptions = (ca: string[]) => ({
  // Without this, a server that speaks only HTTP/2 may answer 403 in plain text; with it, the TLS handshake fails.
  ALPNProtocols: ['http/1.1'],
  ...(ca.length === 0 ? {} : { ca }),
});

/** Limits each phase of an exchange by the same time. Every piece of a body extends the last one. */
function limitPhases(timeoutMs: number, close: CloseConnection, hasUnreadData: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  const begin = (phase: 'Connect' | 'Headers' | 'Body'): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // While data waits for its reader, the server is not late: undici's time limit does not count then either.
      if (hasUnreadData()) timer?.refresh();
      else close(failure(`UND_ERR_${phase.toUpperCase()}_TIMEOUT`, `${phase} Timeout Error`));
    }, timeoutMs);
  };
  return { begin, extend: () => timer?.refresh(), end: () => clearTimeout(timer) };
}

async function* bodyOf(
  answer: IncomingMessage,
  sent: ClientRequest,
  socketError: () => Error | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw (error as Error).message === 'aborted' ? (socketError() ?? cutBodyError(sent, answer)) : error;
  }
  // Without a length or chunks, the end of the connection ends the body, and node takes it for whole even after an error.
  const { 'content-length': length, 'transfer-encoding': coding } = answer.headers;
  const broken = socketError();
  if (length === undefined && coding === undefined && broken !== undefined) throw broken;
}

/** undici's error for a body that ends too early: it differs with whether the connection was to stay open. */
function cutBodyError({ shouldKeepAlive }: ClientRequest, { headers }: IncomingMessage): Error {
  if (shouldKeepAlive) return socketClosed();
  return headers['content-length'] === undefined
    ? notHttp('HPE_INVALID_EOF_STATE', 'Invalid EOF state')
    : mismatch();
}

/** `code` has the type `unknown`, since the reason of an abort comes here too, and the code of a `DOMException` is a number. */
function asUndici(error: ParserError): Error {
  const { code, message, reason = '', rawPacket } = error;
  if (message === 'socket hang up') return socketClosed();
  if (code === 'HPE_HEADER_OVERFLOW') return failure('UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error');
  if (code === 'HPE_INVALID_CONTENT_LENGTH') return mismatch();
  return typeof code === 'string' && code.startsWith('HPE_')
    ? Object.assign(notHttp(code, reason), { data: rawPacket?.toString('latin1') })
    : error;
}

interface ParserError extends Error {
  readonly code?: unknown;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const socketClosed = (): Error => failure('UND_ERR_SOCKET', 'other side closed');
const mismatch = (): Error =>
  failure('UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'Response body length does not match content-length header');
const notHttp = (code: string, reason: string): Error =>
  failure(code, `Response does not match the HTTP/1.1 protocol (${reason})`);
