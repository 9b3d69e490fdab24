import { type IncomingMessage, request as requestPlain } from 'node:http';
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

/**
 * The client of a run that as a rule sends one request. undici is loaded for the second one, for a request with a body, and
 * where the environment names a proxy.
 */
export function createQuickClient(options: HttpClientOptions): HttpClient {
  const ending = new AbortController();
  let isFirst = true;
  let agent: Promise<HttpClient> | undefined;
  return {
    async request(request) {
      const { origin, method, body, signal } = request;
      const isPlain = (method === 'GET' || method === 'HEAD') && body === undefined;
      if (isFirst && isPlain && proxyFor(new URL(origin), options.env) === undefined) {
        isFirst = false;
        const signals = [ending.signal, ...(signal === undefined ? [] : [signal])];
        return sendAlone(request, AbortSignal.any(signals), options);
      }
      agent ??= import('./agent.ts').then(({ createAgent }) => createAgent(options));
      return (await agent).request(request);
    },
    async destroy() {
      ending.abort();
      await (await agent)?.destroy();
    },
  };
}

/**
 * Sends one GET or HEAD without a body by node's client, over a connection of its own: loading undici takes longer than a
 * request. Knows no proxy. Each phase begins its time limit: connecting, then the headers of the answer, then its body. `answer` is
 * set once its headers came. `socketError` is kept for the reader of the body, to whom node does not report every failure.
 */
async function sendAlone(
  request: HttpRequest,
  signal: AbortSignal,
  options: HttpClientOptions,
): Promise<HttpAnswer> {
  const url = new URL(request.origin);
  const isSecure = url.protocol === 'https:';
  const host = withoutBrackets(url.hostname);
  const ca = isSecure ? await loopbackAuthorities(url, options) : [];
  signal.throwIfAborted();
  const sent = isSecure
    ? requestSecure({ ...nodeOptions(request, url.port, host), ...secureOptions(ca) })
    : requestPlain(nodeOptions(request, url.port, host));
  // No limit: node leaves out the headers beyond it without an error, and undici does not.
  sent.maxHeadersCount = 0;
  let answer: IncomingMessage | undefined;
  let socketError: Error | undefined;
  const close = (why: Error): void => void (answer ?? sent).destroy(why);
  const hasUnreadData = (): boolean => (answer?.readableLength ?? 0) > 0;
  const limit = limitPhases(options.timeoutMs, close, hasUnreadData);
  limit.begin('Connect');
  signal.addEventListener('abort', () => close(signal.reason as Error));
  sent.once('close', () => limit.end());
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
      socketError = error;
      reject(error);
    });
    // Node reports no error where the answer switches to another protocol.
    sent.once('close', () => reject(new Error('socket hang up')));
    sent.once('response', (received) => {
      answer = received;
      limit.begin('Body');
      // The reader of the body gets this error; without a listener it would end the process.
      received.on('error', () => undefined);
      resolve({
        status: received.statusCode ?? 0,
        statusText: received.statusMessage ?? '',
        ...answerHeaders(received.rawHeaders),
        body: bodyOf(received, () => socketError),
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

/** Limits each phase of an exchange by the same time, with undici's codes. Every piece of a body extends the last one. */
function limitPhases(timeoutMs: number, close: (why: Error) => void, hasUnreadData: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  const begin = (phase: 'Connect' | 'Headers' | 'Body'): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // While data waits for its reader, the server is not late: undici's time limit does not count then either.
      if (hasUnreadData()) timer?.refresh();
      else {
        const code = `UND_ERR_${phase.toUpperCase()}_TIMEOUT`;
        close(Object.assign(new Error(`${phase} Timeout Error`), { code }));
      }
    }, timeoutMs);
  };
  return { begin, extend: () => timer?.refresh(), end: () => clearTimeout(timer) };
}

async function* bodyOf(
  answer: IncomingMessage,
  socketError: () => Error | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw socketError() ?? error;
  }
  // Without a length or chunks, the end of the connection ends the body, and node takes it for whole even after an error.
  const { 'content-length': length, 'transfer-encoding': coding } = answer.headers;
  const broken = socketError();
  if (length === undefined && coding === undefined && broken !== undefined) throw broken;
}
