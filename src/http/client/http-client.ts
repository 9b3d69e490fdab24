import {
  Agent,
  type AgentOptions,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { isLoopback } from '../../config/base-url.ts';
import { TunnelError } from '../problems.ts';
import { proxyFor } from './proxy.ts';
import { tunnelAgent } from './tunnel.ts';

/** One request; paths and headers are those that HTTP can carry. */
export interface HttpRequest {
  readonly origin: string;
  /** With its query. */
  readonly path: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer of any status, whose body is still to come. */
export interface HttpAnswer {
  readonly status: number;
  /** The text behind the status, which a server may leave empty. */
  readonly statusText: string;
  /** As they were sent, one behind the other. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** Names in lower case; the first value of a header that is sent more than once, `Link` aside. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** To be read or discarded; it throws where it breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the rest of the body up. Where all of it is there already, its connection is used again. */
  readonly discard: () => Promise<void>;
}

/** Sends requests and follows no redirect. */
export interface HttpClient {
  /** Rejects with the system's error, or with one that has a code of node or one of those below. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends every connection. */
  destroy(): Promise<void>;
}

export interface HttpClientOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where our own local authority is, if there is one; undefined: it is not looked for. */
  readonly dataDir: string | undefined;
  /** To connect, to the first header, and between two pieces of a body. */
  readonly timeoutMs: number;
}

/** Ends a connection; the request, or the body of its answer, fails with the reason. */
type CloseConnection = (why: Error) => void;

/** How requests to one origin are connected. */
interface Route {
  readonly agent: Agent;
  /** Host and port. */
  readonly proxy: string | undefined;
}

/** An idle connection is kept for so long, unless the server asks for less: it may be about to close it; ms. */
const idleMs = 4000;

/**
 * The connections of one run: HTTP/1.1 with keep-alive by node's client, through the proxy that the environment names. The
 * certificate of an https loopback address may also be issued by our own local authority; `NODE_EXTRA_CA_CERTS` counts for
 * loopback here, and for other hosts in node.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const open = new Set<CloseConnection>();
  const routes = new Map<string, Promise<Route>>();
  const routeTo = (url: URL): Promise<Route> => {
    const known = routes.get(url.origin) ?? openRoute(url, options);
    routes.set(url.origin, known);
    return known;
  };
  return {
    async request(request) {
      const url = new URL(request.origin);
      const route = await routeTo(url);
      request.signal?.throwIfAborted();
      return send(request, url, route, options.timeoutMs, open);
    },
    async destroy() {
      for (const close of open) close(failure('CLIENT_CLOSED', 'The client is closed'));
      for (const route of routes.values()) (await route.catch(() => undefined))?.agent.destroy();
    },
  };
}

/** The connections of a process that is ours alone: V8's flags count for all of it. */
export function createProcessClient(options: HttpClientOptions): HttpClient {
  const client = createHttpClient(options);
  let requests = 0;
  return {
    ...client,
    request(request) {
      requests += 1;
      // The young generation would grow to 48 MB with what dies at once anyway, page after page: a third of the memory of
      // a long walk, for a twentieth of its time. Not before, since V8 takes no cached code once a flag has changed.
      if (requests === 2) setFlagsFromString('--semi-space-growth-factor=1');
      return client.request(request);
    },
  };
}

async function openRoute(url: URL, options: HttpClientOptions): Promise<Route> {
  const isSecure = url.protocol === 'https:';
  const keptAlive: AgentOptions = { keepAlive: true, timeout: idleMs };
  const proxy = proxyFor(url, options.env);
  if (proxy !== undefined) return { agent: tunnelAgent(proxy, keptAlive, isSecure), proxy: proxy.host };
  const ca = isSecure && isLoopback(url.hostname) ? await loopbackAuthorities(options) : [];
  const agent = isSecure
    ? new SecureAgent({ ...keptAlive, ...(ca.length === 0 ? {} : { ca }) })
    : new Agent(keptAlive);
  return { agent, proxy: undefined };
}

/** The only authorities, as PEM, by which we trust https on this machine; none: as node does, since we have no authority. */
async function loopbackAuthorities({ env, dataDir }: HttpClientOptions): Promise<string[]> {
  if (dataDir === undefined) return [];
  const { readAuthority } = await import('../../tls/local-authority.ts');
  const own = await readAuthority(dataDir);
  if (own === undefined) return [];
  const file = env['NODE_EXTRA_CA_CERTS'];
  // node itself warns of a file that it cannot read.
  const extra = file ? await readFile(file, 'utf8').catch(() => '') : '';
  return [own, ...(extra === '' ? [] : [extra])];
}

/** The connection is in `open` until the answer has come. */
function send(
  { path, method, headers, body, signal }: HttpRequest,
  { protocol, hostname, port }: URL,
  { agent, proxy }: Route,
  timeoutMs: number,
  open: Set<CloseConnection>,
): Promise<HttpAnswer> {
  const isSecure = protocol === 'https:';
  const sent = (isSecure ? requestSecure : requestPlain)({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path,
    method,
    headers: { ...(body && { 'content-length': String(body.length) }), ...headers },
    agent,
  });
  sent.maxHeadersCount = 0;
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    let broken: Error | undefined;
    // As long as there is no connection, what fails is the way to the proxy.
    const located = (why: Error): Error =>
      proxy !== undefined && sent.socket === null ? new TunnelError(proxy, why) : why;
    const close: CloseConnection = (why) => {
      // Before there is a connection, node would say so only then.
      reject(why);
      (answer ?? sent).destroy(why);
    };
    const abort = (): void => close(signal?.reason as Error);
    const limit = limitPhases(
      timeoutMs,
      (why) => close(located(why)),
      () => (answer?.readableLength ?? 0) > 0,
    );
    limit.begin(proxy === undefined ? 'Connect' : 'Headers');
    open.add(close);
    signal?.addEventListener('abort', abort);
    sent.once('close', () => {
      limit.end();
      open.delete(close);
      signal?.removeEventListener('abort', abort);
      // All that node says of an answer that switches to another protocol.
      reject(socketClosed());
    });
    sent.once('socket', (socket) => {
      const onData = (): void => {
        if (answer !== undefined) limit.extend();
      };
      socket.on('data', onData);
      sent.once('close', () => socket.off('data', onData));
      if (sent.reusedSocket || (proxy !== undefined && !isSecure)) limit.begin('Headers');
      else {
        limit.begin('Connect');
        socket.once(isSecure ? 'secureConnect' : 'connect', () => limit.begin('Headers'));
      }
    });
    sent.on('error', (error) => {
      broken = located(withOurCode(error));
      reject(broken);
    });
    sent.once('response', (received) => {
      answer = received;
      limit.begin('Body');
      // Whoever reads the body gets it.
      received.on('error', () => undefined);
      resolve({
        status: received.statusCode ?? 0,
        statusText: received.statusMessage ?? '',
        ...answerHeaders(received.rawHeaders),
        body: bodyOf(received, () => broken ?? cutOff(sent, received)),
        discard: () => {
          if (received.complete) received.resume();
          else received.destroy();
          return Promise.resolve();
        },
      });
    });
    sent.end(body);
  });
}

/** The headers of an answer, from the list of names and values in turn that node gives. */
function answerHeaders(flat: readonly string[]): Pick<HttpAnswer, 'rawHeaders' | 'headers'> {
  const rawHeaders: (readonly [string, string])[] = [];
  const headers: Record<string, string | undefined> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [rawName = '', value = ''] = flat.slice(i, i + 2);
    rawHeaders.push([rawName, value]);
    const name = rawName.toLowerCase();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (before === undefined) headers[name] = value;
    // `Link` values are one list (RFC 9110, section 5.3).
    else if (name === 'link') headers[name] = `${before}, ${value}`;
  }
  return { rawHeaders, headers };
}

/** Closes what stays in one phase of a request for too long, but not for a reader that takes its time. */
function limitPhases(timeoutMs: number, close: CloseConnection, isUnread: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  const begin = (phase: 'Connect' | 'Headers' | 'Body'): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isUnread()) timer?.refresh();
      else close(failure(`${phase.toUpperCase()}_TIMEOUT`, `${phase} Timeout Error`));
    }, timeoutMs);
  };
  const end = (): void => {
    clearTimeout(timer);
    // `refresh` would start it again.
    timer = undefined;
  };
  return { begin, extend: () => timer?.refresh(), end };
}

async function* bodyOf(
  answer: IncomingMessage,
  reason: () => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    // What node says of every connection that ended too early.
    throw (error as Error).message === 'aborted' ? reason() : error;
  }
}

/** Why a body ended too early. */
function cutOff({ shouldKeepAlive }: ClientRequest, { headers }: IncomingMessage): Error {
  if (shouldKeepAlive) return socketClosed();
  return headers['content-length'] === undefined
    ? notHttp('HPE_INVALID_EOF_STATE', 'Invalid EOF state')
    : mismatch();
}

/** The code is unknown: the reason of an abort comes here too, and that of a `DOMException` is a number. */
function withOurCode(error: Error & { readonly code?: unknown; readonly reason?: string }): Error {
  const { code, message, reason = '' } = error;
  if (message === 'socket hang up') return socketClosed();
  if (code === 'HPE_HEADER_OVERFLOW') return failure(code, 'Headers Overflow Error');
  if (code === 'HPE_INVALID_CONTENT_LENGTH') return mismatch();
  return typeof code === 'string' && code.startsWith('HPE_') ? notHttp(code, reason) : error;
}

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const socketClosed = (): Error => failure('SOCKET_CLOSED', 'other side closed');
const mismatch = (): Error =>
  failure('BODY_CUT_OFF', 'Response body length does not match content-length header');
const notHttp = (code: string, reason: string): Error =>
  failure(code, `Response does not match the HTTP/1.1 protocol (${reason})`);
