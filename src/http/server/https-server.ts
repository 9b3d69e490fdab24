import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import {
  BodyBudget,
  closedAfterHandshake,
  type Connection,
  Connections,
  IncomingBody,
  isStalled,
  type RequestHead,
  validateHeaders,
} from './connections.ts';
import { type HandshakeFailure, handshakeProblem, listenError } from '../errors.ts';
import {
  closeAfterAnswer,
  type ParserError,
  rejectConnection,
  rejectionFor,
  rejectRequest,
  reportRejected,
  requestLineOf,
  tooSlow,
} from './reject-request.ts';
import {
  checkIntervalMs,
  connectionLimit,
  defaultLimits,
  type Exchange,
  type HttpServer,
  type HttpServerOptions,
  type Limits,
  requestDeadlineMs,
  type ServerState,
} from './server-options.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { answerForOutcome, rejection } from '../../webhook/delivery-answer.ts';
import { type Answer, sendAnswer, withHeaders } from './send-answer.ts';

/**
 * Listens for deliveries over HTTP/1.1, with TLS 1.2 or 1.3 unless plain HTTP is configured, and limits what any client
 * can cost. Throws a `ConfigError` or `UsageError` when it cannot listen on the address.
 */
export async function openHttpsServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits: Limits = {
    ...defaultLimits,
    ...options.limits,
    connections: options.limits?.connections ?? (await connectionLimit()),
  };
  const protocol = options.tls === undefined ? 'http' : 'https';
  const bodies = new BodyBudget(limits.bufferedBytes);
  const state: ServerState = { options, limits, protocol, bodies, isDraining: false };
  const connections = new Connections();
  const server = createServer(options, limits);
  watchRequests(server, state, connections);
  watchConnections(server, state, connections);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const timer = setInterval(() => closeOverdue(state, connections), checkIntervalMs(limits));
  timer.unref();
  return {
    url: `${protocol}://${hostInUrl(options.host)}:${port}`,
    port,
    endConnections() {
      state.isDraining = true;
    },
    renew(pair) {
      if (server instanceof TlsServer) server.setSecureContext(secureContext(pair));
    },
    close: (drainMs = 5_000) => {
      state.isDraining = true;
      return drain(server, connections, drainMs).finally(() => clearInterval(timer));
    },
  };
}

/**
 * Authenticated encryption with forward secrecy only, for TLS 1.3 and 1.2: the suites with CBC of TLS 1.2 are open to
 * padding oracles (RFC 9325, section 4.2). In OpenSSL's names, the preferred first.
 */
const aeadCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

const secureContext = ({ certPem, keyPem }: NonNullable<HttpServerOptions['tls']>) =>
  ({
    cert: certPem,
    key: keyPem,
    ciphers: aeadCiphers,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
  }) as const;

function createServer(options: HttpServerOptions, limits: Limits): Server {
  const http = {
    requestTimeout: requestDeadlineMs(limits),
    headersTimeout: requestDeadlineMs(limits),
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: checkIntervalMs(limits),
    maxHeaderSize: limits.headerBytes,
    // Checked with the other headers: node would reject such a request without reporting it.
    requireHostHeader: false,
  };
  const server =
    options.tls === undefined
      ? createPlainServer(http)
      : createTlsServer({
          ...http,
          ...secureContext(options.tls),
          handshakeTimeout: requestDeadlineMs(limits),
        });
  // node accepts one more than is allowed, so that too many are noticed.
  server.maxHeadersCount = limits.headers + 1;
  server.maxConnections = limits.connections;
  return server;
}

function watchRequests(server: Server, state: ServerState, connections: Connections): void {
  const inTurn = (handle: Handle) => (request: IncomingMessage, response: ServerResponse) =>
    startInTurn(handle, { state, connection: connections.of(request.socket), request, response });
  server.on('request', inTurn(handleRequest));
  server.on('checkContinue', inTurn(handleRequest));
  server.on(
    'checkExpectation',
    inTurn((exchange) => {
      rejectRequest(exchange, rejection('failed_expectation', 'an expectation other than 100-continue'));
    }),
  );
  server.on('connect', (request, socket) => {
    // Node has removed its own error listener: without one, a client that disconnects would end this process.
    socket.on('error', () => socket.destroy());
    const rejected = rejection('wrong_method', 'the method CONNECT is not for a receiver');
    rejectConnection(state, connections.of(socket), rejected, requestLineOf(request));
  });
}

async function drain(server: Server, connections: Connections, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const { socket, hasCompletedRequest, receiving } of connections) {
    if (!hasCompletedRequest && receiving === 0) socket.destroy();
  }
  const timer = setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, drainMs);
  await closed;
  clearTimeout(timer);
}

function listen(server: Server, { host, port, addressOption }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port, addressOption)));
    server.listen(port, host, resolve);
  });
}

/** `localhost` for every address that it reaches: the certificate names it, and `https://[::1]` never validates on node 22. */
function hostInUrl(host: string): string {
  if (/^(localhost|127(\.\d+){3}|::1|0\.0\.0\.0|::)$/.test(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function watchConnections(server: Server, state: ServerState, connections: Connections): void {
  const { options, limits } = state;
  const isPlain = options.tls === undefined;
  const handshakeFailed = (
    connection: Connection | undefined,
    code: string,
    kind: HandshakeFailure,
  ): void => {
    if (connection !== undefined) connection.closing = true;
    options.onHandshake?.({ remote: connection?.remote ?? '', code, problem: handshakeProblem(kind) });
  };
  const afterClose = (connection: Connection): void => {
    if (!closedAfterHandshake(connection) || state.isDraining) return;
    handshakeFailed(connection, 'ERR_CLOSED', 'client-left-handshake');
  };
  server.on('connection', (socket) => {
    const connection = connections.accept(socket, isPlain);
    if (!isPlain) socket.once('close', () => afterClose(connection));
  });
  server.on('secureConnection', (socket: Socket) => {
    const connection = connections.handshakeDone(socket);
    socket.once('close', () => afterClose(connection));
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { code = '' } = error;
    const kind = handshakeFailure(code);
    if (kind !== undefined) handshakeFailed(connections.handshakeOf(socket), code, kind);
    socket.destroy();
  });
  server.on('clientError', (error: ParserError, socket) => {
    // The client asked for the connection to be closed, and what it sent after that is ignored (RFC 9112, section 9.6).
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const rejected = rejectionFor(error, limits);
    const connection = connections.find(socket);
    if (rejected === undefined || connection === undefined) socket.destroy();
    else if (!connection.closing) rejectConnection(state, connection, rejected);
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (!server.listening) return;
    handshakeFailed(undefined, error.code ?? '', 'connection-not-accepted');
  });
  server.on('drop', () => {
    // Makes room for others: closing a connection without a request loses nothing.
    server.closeIdleConnections();
    options.onFull?.(limits.connections);
  });
}

function closeOverdue(state: ServerState, connections: Connections): void {
  const now = performance.now();
  const { limits } = state;
  for (const connection of connections) {
    const { socket, hasCompletedRequest, closing, acceptedAt } = connection;
    if (isStalled(connection, now, limits.answerMs)) socket.destroy();
    else if (!hasCompletedRequest && !closing && now - acceptedAt > requestDeadlineMs(limits)) {
      rejectConnection(state, connection, tooSlow(limits));
    }
  }
}

function handshakeFailure(code: string): HandshakeFailure | undefined {
  if (code === 'ERR_SSL_HTTP_REQUEST') return 'client-speaks-no-tls';
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED)/.test(code)) {
    return 'client-distrusts-certificate';
  }
  if (/UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|UNKNOWN_PROTOCOL/.test(code)) return 'client-speaks-old-tls';
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return 'client-speaks-no-http1';
  if (/^(ECONNRESET|EPIPE|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_STREAM_DESTROYED)$/.test(code)) return undefined;
  return 'handshake-failed';
}

function handleRequest(exchange: Exchange): void {
  const { state, connection, request, response } = exchange;
  const head = validateHeaders(request, state.limits);
  if ('status' in head) {
    rejectRequest(exchange, head);
    return;
  }
  const body = new IncomingBody(state, connection, {
    checkHead(pieces) {
      const rejected = state.options.checkHead?.(deliveryOf(exchange, head, pieces));
      if (rejected === undefined && request.headers.expect !== undefined) response.writeContinue();
      return rejected;
    },
    complete(pieces) {
      connection.hasCompletedRequest = true;
      void answerDelivery(exchange, deliveryOf(exchange, head, pieces), body);
    },
    rejected: (rejected, start) => rejectRequest(exchange, rejected, deliveryOf(exchange, head, [start])),
    ended(size) {
      if (connection.closing || state.isDraining) return;
      const whole = head.length === undefined ? '' : ` of ${head.length}`;
      const cut = `the connection ended after ${size}${whole} bytes of the body`;
      reportRejected(exchange, rejection('incomplete_body', cut), requestLineOf(request));
    },
  });
  body.receive(request, head);
}

function deliveryOf(
  { state, request, connection }: Exchange,
  head: RequestHead,
  pieces: readonly Buffer[],
): Delivery {
  const path = request.url ?? '/';
  return {
    method: request.method ?? '',
    path,
    // An absolute target names its own host (RFC 9112, section 3.2.2).
    url: path.startsWith('/') ? `${state.protocol}://${head.host}${path}` : path,
    rawHeaders: head.rawHeaders,
    body: pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces),
    remote: connection.remote,
    receivedAt: state.options.clock.now(),
  };
}

async function answerDelivery(
  { state, connection, response }: Exchange,
  delivery: Delivery,
  body: IncomingBody,
): Promise<void> {
  let answer: Answer;
  try {
    answer = await state.options.handle(delivery);
  } catch (error) {
    state.options.onError(error, delivery);
    answer = answerForOutcome(rejection('cannot_store', 'the delivery could not be handled'));
  }
  body.release();
  try {
    if (state.isDraining) connection.closing = true;
    if (connection.closing && connection.waiting.length > 0) closeAfterAnswer(connection);
    sendAnswer(response, withHeaders(answer, state.options.headers), connection.closing);
  } catch (error) {
    state.options.onError(error, delivery);
    response.destroy();
  }
}

type Handle = (exchange: Exchange) => void;

/**
 * Starts each request of a connection when the one ahead of it is answered, and the client reads: it need not wait for
 * answers, but POST requests are not to be handled in parallel (RFC 9112, section 9.3.2). Behind an answer that closes
 * the connection nothing is started (section 9.6).
 */
function startInTurn(handle: Handle, exchange: Exchange): void {
  const { connection, request, response } = exchange;
  const start = (): void => {
    connection.latest = response;
    handle(exchange);
  };
  const { latest, waiting, socket } = connection;
  // Usually the client's next request comes before node reports that the answer has left.
  const isAnswered = latest === undefined || (latest.writableEnded && !socket.writableNeedDrain);
  if (connection.closing) request.resume();
  else if (waiting.length === 0 && isAnswered) start();
  else {
    if (waiting.length === 0) latest?.once('close', () => startNext(connection));
    waiting.push({ request, response, start });
    stopReading(connection);
  }
}

function startNext(connection: Connection): void {
  const { waiting, socket } = connection;
  if (connection.closing || socket.destroyed) {
    // Unread requests would stop the connection from being read to its end.
    for (const { request } of waiting.splice(0)) request.resume();
    return;
  }
  const next = waiting.shift();
  if (next === undefined) return;
  if (waiting.length > 0) next.response.once('close', () => startNext(connection));
  else socket.resume();
  next.start();
}

/** Node resumes a socket whenever a body is read; with requests waiting it is to stay paused. */
function stopReading(connection: Connection): void {
  const { socket, waiting } = connection;
  if (!connection.canPause) {
    connection.canPause = true;
    socket.on('resume', () => {
      if (waiting.length > 0) socket.pause();
    });
  }
  socket.pause();
}
