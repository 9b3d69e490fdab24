import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { awaitsAnswer, type Connection, Connections, leftAtHandshake, measureStall } from './connections.ts';
import { type HandshakeFailure, handshakeFailure, handshakeProblem, listenError } from '../errors.ts';
import { BodyBudget, IncomingBody, readHead } from './read-request.ts';
import {
  closeAfterAnswer,
  type ParserError,
  rejectConnection,
  rejectionFor,
  rejectRequest,
  requestLineOf,
  sendAnswer,
  tooSlow,
  withHeaders,
} from './send-answer.ts';
import {
  type Answer,
  checkIntervalMs,
  connectionLimit,
  defaultLimits,
  type Exchange,
  type HttpServer,
  type HttpServerOptions,
  type Limits,
  requestDeadlineMs,
  secureContext,
  type ServerState,
} from './server-options.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { answerForOutcome, rejection } from '../../webhook/delivery-answer.ts';

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
  const state: ServerState = { options, limits, protocol, isDraining: false };
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

function createServer(options: HttpServerOptions, limits: Limits): Server {
  const http = {
    requestTimeout: requestDeadlineMs(limits),
    headersTimeout: requestDeadlineMs(limits),
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: checkIntervalMs(limits),
    maxHeaderSize: limits.headerBytes,
    // `readHead` checks it: node would reject such a request without reporting it.
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
  // Node drops further headers silently: it keeps one more than is allowed, so that `readHead` notices and rejects.
  server.maxHeadersCount = limits.headers + 1;
  server.maxConnections = limits.connections;
  return server;
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
  const reportHandshake = (connection: Connection | undefined, code: string, kind: HandshakeFailure) => {
    // The close of this connection is not reported as another failure.
    if (connection !== undefined) connection.isClosing = true;
    options.onFailedHandshake?.({ remote: connection?.remote ?? '', code, problem: handshakeProblem(kind) });
  };
  const reportIfLeft = (connection: Connection): void => {
    if (!leftAtHandshake(connection) || state.isDraining) return;
    reportHandshake(connection, 'ERR_CLOSED', 'client-left-handshake');
  };
  server.on('connection', (socket) => {
    const connection = connections.accept(socket, isPlain);
    if (!isPlain) socket.once('close', () => reportIfLeft(connection));
  });
  server.on('secureConnection', (socket: Socket) => {
    const connection = connections.completeHandshake(socket);
    socket.once('close', () => reportIfLeft(connection));
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { code = '' } = error;
    const kind = handshakeFailure(code);
    if (kind !== undefined) reportHandshake(connections.findFailedHandshake(socket), code, kind);
    socket.destroy();
  });
  server.on('clientError', (error: ParserError, socket) => {
    // The client asked for the connection to be closed, and what it sent after that is ignored (RFC 9112, section 9.6).
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const rejected = rejectionFor(error, limits);
    const connection = connections.find(socket);
    if (rejected === undefined || connection === undefined) socket.destroy();
    else if (!connection.isClosing) rejectConnection(state, connection, rejected);
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    // `listen` throws those that come before.
    if (server.listening) reportHandshake(undefined, error.code ?? '', 'connection-not-accepted');
  });
  server.on('drop', () => {
    // Makes room for others: closing a connection without a request loses nothing.
    server.closeIdleConnections();
    options.onFull?.(limits.connections);
  });
}

function watchRequests(server: Server, state: ServerState, connections: Connections): void {
  const budget = new BodyBudget(state.limits.bufferedBytes);
  const unlessEarly =
    (handle: (exchange: Exchange) => void) => (request: IncomingMessage, response: ServerResponse) => {
      const connection = connections.get(request.socket);
      if (awaitsAnswer(connection)) stopReading(connection);
      if (connection.isClosing) {
        // An unread request would stop the connection from being read to its end.
        request.resume();
        return;
      }
      connection.latestResponse = response;
      handle({ state, connection, request, response });
    };
  const receive = unlessEarly((exchange) => handleRequest(exchange, budget));
  server.on('request', receive);
  server.on('checkContinue', receive);
  const unmet = rejection('failed_expectation', 'an expectation other than 100-continue');
  server.on(
    'checkExpectation',
    unlessEarly((exchange) => rejectRequest(exchange, unmet)),
  );
  server.on('connect', (request, socket) => {
    // Node has removed its own error listener: without one, a client that disconnects would end this process.
    socket.on('error', () => socket.destroy());
    const rejected = rejection('wrong_method', 'the method CONNECT is not for a receiver');
    rejectConnection(state, connections.get(socket), rejected, requestLineOf(request));
  });
}

/**
 * Ends a connection with the answer to the request that is handled. A client may send the next one before, but POST requests must
 * not be handled in parallel (RFC 9112, section 9.3.2): it sends those that got no answer once more.
 */
function stopReading(connection: Connection): void {
  const { socket, isClosing } = connection;
  closeAfterAnswer(connection);
  if (isClosing) return;
  // Node resumes a socket whenever a body is read.
  socket.on('resume', () => {
    if (awaitsAnswer(connection)) socket.pause();
  });
  socket.pause();
}

function handleRequest(exchange: Exchange, budget: BodyBudget): void {
  const head = readHead(exchange.request, exchange.state.limits);
  if ('reason' in head) {
    rejectRequest(exchange, head);
    return;
  }
  const body = new IncomingBody(exchange, head, budget, (delivery) => {
    exchange.connection.hasCompletedRequest = true;
    // The other sockets are read first, so that the code of each step stays in the processor's cache: this saves 5 to 10%.
    setImmediate(() => void answerDelivery(exchange, delivery, body));
  });
  body.receive();
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
    if (state.isDraining) connection.isClosing = true;
    sendAnswer(response, withHeaders(answer, state.options.headers), connection.isClosing);
  } catch (error) {
    state.options.onError(error, delivery);
    response.destroy();
  }
}

/** Closes the connections that node's own time-outs miss: before their first request, and while an answer is not read. */
function closeOverdue(state: ServerState, connections: Connections): void {
  const now = performance.now();
  const { limits } = state;
  for (const connection of connections) {
    const { socket, hasCompletedRequest, isClosing, acceptedAt } = connection;
    if (measureStall(connection, now) > limits.answerMs) socket.destroy();
    else if (!hasCompletedRequest && !isClosing && now - acceptedAt > requestDeadlineMs(limits)) {
      rejectConnection(state, connection, tooSlow(limits));
    }
  }
}

async function drain(server: Server, connections: Connections, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Node closes only those that are idle after a request.
  for (const { socket, hasCompletedRequest, isReceivingBody } of connections) {
    if (!hasCompletedRequest && !isReceivingBody) socket.destroy();
  }
  const timer = setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, drainMs);
  await closed;
  clearTimeout(timer);
}
