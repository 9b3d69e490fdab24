import { readFile } from 'node:fs/promises';
import {
  Agent as PlainAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import { isLoopback } from '../../config/base-url.ts';
import { TunnelError } from '../problems.ts';
import { proxyFor } from './proxy.ts';
import type { openTunnel } from './tunnel.ts';

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
  /** Gives the rest of the body up, so that its connection can be used again. */
  readonly discard: () => Promise<void>;
}

/** Sends requests and follows no redirect. */
export interface HttpClient {
  /** Rejects with the system's error, or with one that has a code of node or of `HttpFault`. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends every connection. */
  destroy(): Promise<void>;
}

export interface HttpClientOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where our own local authority is, if there is one; undefined: it is not looked for. */
  readonly dataDir: string | undefined;
  readonly timeoutMs: number;
}

/** Why there is no whole answer, where neither the system nor node's parser has a code for it. */
type HttpFault =
  'CONNECT_TIMEOUT' | 'HEADERS_TIMEOUT' | 'BODY_TIMEOUT' | 'CONNECTION_CLOSED' | 'LENGTH_MISMATCH';

/** How long an idle connection is kept, in milliseconds, where its server does not say less: many close it after five seconds. */
const idleMs = 4000;

/** Of a body that is given up, in bytes: reading so much costs less than another connection. */
const mostDiscarded = 128 * 1024;

/** Ends a connection; the request, or the body of its answer, fails with the reason. */
type CloseConnection = (why: Error) => void;

/** The client of a process that is ours alone: V8's flags count for all of it. */
export function createProcessClient(options: HttpClientOptions): HttpClient {
  const client = createHttpClient(options);
  let asked = 0;
  return {
    ...client,
    async request(request) {
      asked += 1;
      // The young generation would grow to 48 MB with what dies at once anyway, page after page, for a twentieth of a long
      // walk's time. Not before its code is loaded: V8 takes no compiled code that was made under other flags.
      if (asked === 2) (await import('node:v8')).setFlagsFromString('--semi-space-growth-factor=1');
      return client.request(request);
    },
  };
}

/**
 * The connections of one run: node's HTTP/1.1 with keep-alive, `timeoutMs` to connect, to the first header and between two
 * pieces of a body, through the proxy that the environment names. The certificate of an https loopback address may also
 * be issued by our own local authority; `NODE_EXTRA_CA_CERTS` counts for loopback here, and for other hosts in node.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const open = new Set<CloseConnection>();
  const opening = new Set<ClientRequest>();
  const agents = new Map<string, Promise<PlainAgent>>();
  return {
    async request(request) {
      const { origin, signal } = request;
      const agent = agents.get(origin) ?? agentFor(new URL(origin), options, opening);
      agents.set(origin, agent);
      const ready = await agent;
      signal?.throwIfAborted();
      return send(request, ready, options.timeoutMs, open);
    },
    async destroy() {
      for (const close of open) close(closed('the client was closed'));
      for (const tunnel of opening) tunnel.destroy();
      for (const agent of agents.values()) {
        // Of one that could not be made its request has failed.
        (await agent.catch(() => undefined))?.destroy();
      }
    },
  };
}

/** The connections to one origin. They fail with a `TunnelError` where a proxy opens no tunnel in time. */
async function agentFor(
  url: URL,
  options: HttpClientOptions,
  opening: Set<ClientRequest>,
): Promise<PlainAgent> {
  const isSecure = url.protocol === 'https:';
  const kept = { keepAlive: true, timeout: idleMs };
  const proxy = proxyFor(url, options.env);
  if (proxy !== undefined) {
    // Late, since it loads TLS, which plain HTTP does without.
    const tunnels = await import('./tunnel.ts');
    const open: typeof openTunnel = (_, authority, onSocket) => {
      const tunnel = tunnels.openTunnel(
        proxy,
        authority,
        (error, socket) => onSocket(error && new TunnelError(proxy.host, asFault(error)), socket),
        options.timeoutMs,
      );
      opening.add(tunnel);
      return tunnel.once('close', () => opening.delete(tunnel));
    };
    return tunnels.tunnelAgent(proxy, kept, { isSecure, open });
  }
  const ca = await loopbackAuthorities(url, options);
  return isSecure ? new SecureAgent({ ...kept, ...(ca.length > 0 && { ca }) }) : new PlainAgent(kept);
}

/**
 * The only authorities, as PEM, by which an https loopback address is trusted. Empty for other addresses, and as long as we
 * have no local authority: these are trusted as node does.
 */
async function loopbackAuthorities(
  { protocol, hostname }: URL,
  { env, dataDir }: HttpClientOptions,
): Promise<string[]> {
  if (dataDir === undefined || protocol !== 'https:' || !isLoopback(hostname)) return [];
  const { readAuthority } = await import('../../tls/local-authority.ts');
  const own = await readAuthority(dataDir);
  if (own === undefined) return [];
  const file = env['NODE_EXTRA_CA_CERTS'];
  // node itself warns of a file that it cannot read.
  const extra = file ? await readFile(file, 'utf8').catch(() => '') : '';
  return [own, ...(extra === '' ? [] : [extra])];
}

/** Sends one request. Its connection is in `open` until the answer has ended. */
function send(
  { origin, path, method, headers, body, signal }: HttpRequest,
  agent: PlainAgent,
  timeoutMs: number,
  open: Set<CloseConnection>,
): Promise<HttpAnswer> {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === 'https:';
  const sent = (isSecure ? requestSecure : requestPlain)({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path,
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-length': body.length }) },
    agent,
  });
  sent.maxHeadersCount = 0;
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    let broken: Error | undefined;
    const close: CloseConnection = (why) => {
      (answer ?? sent).destroy(why);
      // Without a connection, node says nothing of it before there is one.
      reject(why);
    };
    const abort = (): void => close(signal?.reason as Error);
    const limit = limitPhases(timeoutMs, close, () => (answer?.readableLength ?? 0) > 0);
    const onData = (): void => {
      if (answer !== undefined) limit.extend();
    };
    open.add(close);
    signal?.addEventListener('abort', abort);
    sent.once('socket', (socket) => {
      if (sent.reusedSocket || !(isSecure || socket.connecting)) limit.begin('headers');
      else {
        limit.begin('connect');
        socket.once(isSecure ? 'secureConnect' : 'connect', () => limit.begin('headers'));
      }
      socket.on('data', onData);
      sent.once('close', () => socket.off('data', onData));
    });
    sent.on('error', (error) => {
      broken = asFault(error);
      reject(broken);
    });
    sent.once('close', () => {
      limit.end();
      open.delete(close);
      signal?.removeEventListener('abort', abort);
      // All that node says of an answer that switches to another protocol.
      reject(socketClosed());
    });
    sent.once('response', (received) => {
      answer = received;
      limit.begin('body');
      // Whoever reads the body gets it.
      received.on('error', () => undefined);
      resolve({
        status: received.statusCode ?? 0,
        statusText: received.statusMessage ?? '',
        ...headersOf(received.rawHeaders),
        body: bodyOf(received, () => broken ?? cutOff(sent, received)),
        discard: () => discard(received),
      });
    });
    sent.end(body);
  });
}

/** Closes what stays in one phase of a request for too long, but not for a reader that takes its time. */
function limitPhases(timeoutMs: number, close: CloseConnection, isUnread: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  const begin = (phase: keyof typeof timeouts): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isUnread()) timer?.refresh();
      else close(fault(timeouts[phase], `too long: ${phase}`));
    }, timeoutMs);
  };
  const end = (): void => {
    clearTimeout(timer);
    // `refresh` would start it again.
    timer = undefined;
  };
  return { begin, extend: () => timer?.refresh(), end };
}

const timeouts = {
  connect: 'CONNECT_TIMEOUT',
  headers: 'HEADERS_TIMEOUT',
  body: 'BODY_TIMEOUT',
} as const satisfies Record<string, HttpFault>;

/** From the list of names and values in turn that node gives. */
function headersOf(flat: readonly string[]): Pick<HttpAnswer, 'rawHeaders' | 'headers'> {
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

async function discard(answer: IncomingMessage): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of answer) {
      length += (chunk as Buffer).length;
      if (length > mostDiscarded) break;
    }
  } catch {
    // Nobody wants it, nor why it broke off.
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
function asFault(error: Error & { readonly code?: unknown; readonly reason?: string }): Error {
  const { code, message, reason = '' } = error;
  if (message === 'socket hang up') return socketClosed();
  if (code === 'HPE_HEADER_OVERFLOW') return fault(code, 'Headers Overflow Error');
  if (code === 'HPE_INVALID_CONTENT_LENGTH') return mismatch();
  return typeof code === 'string' && code.startsWith('HPE_') ? notHttp(code, reason) : error;
}

const fault = (code: HttpFault | `HPE_${string}`, message: string): Error =>
  Object.assign(new Error(message), { code });
const closed = (message: string): Error => fault('CONNECTION_CLOSED', message);
const socketClosed = (): Error => closed('other side closed');
const mismatch = (): Error =>
  fault('LENGTH_MISMATCH', 'Response body length does not match content-length header');
const notHttp = (code: string, reason: string): Error =>
  fault(code as `HPE_${string}`, `Response does not match the HTTP/1.1 protocol (${reason})`);
