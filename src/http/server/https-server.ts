import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerForOutcome } from '../../webhook/delivery-answer.ts';
import { rejection, type Rejection } from '../../webhook/rejection.ts';
import { lingeringClose, rawAnswer } from './send-answer.ts';
import { Connections, hasSentRequestBytes, isStalled, closedAfterHandshake, type Connection } from './connections.ts';
import { closedAfterHandshakeDetail, handshakeDetail, listenError, rejectionFor, tooSlow } from './connection-errors.ts';
import { handleRequest, rejectRequest, type ServerState } from './handle-request.ts';
import { connectionLimit, defaultLimits, type Limits } from './limits.ts';
import type { HttpServer, HttpServerOptions } from './server-types.ts';

/**
 * Listens for deliveries over HTTP/1.1, on TLS 1.2 or 1.3 unless plain was asked for, and bounds what any client can
 * cost. Throws a `ConfigError` or `UsageError` when the address cannot be had.
 */
export async function openHttpsServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits: Limits = {
    ...defaultLimits,
    ...options.limits,
    connections: options.limits?.connections ?? (await connectionLimit()),
  };
  const scheme = options.tls === undefined ? 'http' : 'https';
  const shared: ServerState = { options, limits, scheme, buffered: 0, draining: false };
  const connections = new Connections();
  const server = createServer(options, limits);
  watchRequests(server, shared, connections);
  watchConnections(server, shared, connections);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const sweep = setInterval(() => closeOverdue(shared, connections), checkIntervalMs(limits));
  sweep.unref();
  return {
    url: `${scheme}://${hostInUrl(options.host)}:${port}`,
    port,
    renew(pair) {
      if (server instanceof TlsServer) server.setSecureContext(secureContext(pair));
    },
    close: (drainMs = 5_000) => {
      shared.draining = true;
      return drain(server, connections, drainMs).finally(() => clearInterval(sweep));
    },
  };
}

/** How often clocks are looked at; they run out so much earlier that nobody outlives the limit. */
const checkIntervalMs = (limits: Limits): number => Math.max(10, Math.min(1_000, limits.requestMs / 15));
const requestDeadlineMs = (limits: Limits): number => limits.requestMs - checkIntervalMs(limits);

const secureContext = ({ certPem, keyPem }: NonNullable<HttpServerOptions['tls']>) =>
  ({ cert: certPem, key: keyPem, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }) as const;

function createServer(options: HttpServerOptions, limits: Limits): Server {
  const http = {
    requestTimeout: requestDeadlineMs(limits),
    headersTimeout: requestDeadlineMs(limits),
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: checkIntervalMs(limits),
    maxHeaderSize: limits.headerBytes,
    // Looked at with the other headers: node's own refusal would go unreported.
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
  // One more than allowed is let through, to see that there was one.
  server.maxHeadersCount = limits.headers + 1;
  server.maxConnections = limits.connections;
  return server;
}

function watchRequests(server: Server, shared: ServerState, connections: Connections): void {
  const found = (socket: Duplex): Connection => {
    const connection = connections.of(socket);
    if (connection === undefined) throw new Error('a request on an unknown connection');
    return connection;
  };
  server.on('request', (request, response) => {
    handleRequest(shared, found(request.socket), request, response);
  });
  server.on('checkContinue', (request, response) => {
    handleRequest(shared, found(request.socket), request, response);
  });
  server.on('checkExpectation', (request, response) => {
    const refused = rejection('failed_expectation', 'an expectation other than 100-continue');
    rejectRequest(shared, found(request.socket), request, response, refused);
  });
  server.on('connect', (request, socket) => {
    // Node has let go of it, its own listener included: a client that went away meanwhile must not be our end.
    socket.on('error', () => socket.destroy());
    const refused = rejection('wrong_method', 'the method CONNECT is not for a receiver');
    endConnection(shared, found(socket), refused, { method: request.method, path: request.url });
  });
}

function watchConnections(server: Server, shared: ServerState, connections: Connections): void {
  const { options, limits } = shared;
  const plain = options.tls === undefined;
  const handshakeFailed = (connection: Connection | undefined, code: string, detail: string): void => {
    if (connection !== undefined) connection.closing = true;
    options.onHandshake?.({ remote: connection?.remote ?? '', code, detail });
  };
  server.on('connection', (socket) => {
    const connection = connections.accept(socket, plain);
    if (!plain) socket.once('close', () => afterClose(connection));
  });
  server.on('secureConnection', (socket: Socket) => {
    const connection = connections.handshakeDone(socket);
    socket.once('close', () => afterClose(connection));
  });
  const afterClose = (connection: Connection): void => {
    if (closedAfterHandshake(connection) && !shared.draining) handshakeFailed(connection, 'ERR_CLOSED', closedAfterHandshakeDetail);
  };
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { code = '' } = error;
    const detail = handshakeDetail(code);
    if (detail !== undefined) handshakeFailed(connections.handshakeOf(socket), code, detail);
    socket.destroy();
  });
  server.on('clientError', (error: Error, socket) => {
    const refused = rejectionFor(error, limits);
    const connection = connections.of(socket);
    if (refused === undefined || connection === undefined) socket.destroy();
    // Its last words are on their way, and this is only more of what they answered.
    else if (!connection.closing) endConnection(shared, connection, refused);
  });
  // One client that could not be accepted: the others must not notice.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (!server.listening) return;
    handshakeFailed(undefined, error.code ?? '', 'a connection could not be accepted');
  });
  server.on('drop', () => {
    // Room for others: nothing is lost with a connection on which nothing is under way.
    server.closeIdleConnections();
    options.onFull?.(limits.connections);
  });
}

/** Ends a connection on which no response object is at hand, with an answer where it can still be told apart. */
function endConnection(
  shared: ServerState,
  connection: Connection,
  refused: Rejection,
  request: { method?: string | undefined; path?: string | undefined } = {},
): void {
  const { socket, remote } = connection;
  connection.closing = true;
  // Who never said a word has no delivery to be told about.
  if (refused.reason === 'too_slow' && !hasSentRequestBytes(connection)) {
    socket.destroy();
    return;
  }
  shared.options.onRejected?.({ ...refused, ...request, remote, receivedAt: shared.options.clock.now() });
  if (connection.unanswered > 0 || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(rawAnswer(answerForOutcome(refused)));
  lingeringClose(socket);
}

/** Ends whoever did not get a first request through in time, and whoever does not take its answers. */
function closeOverdue(shared: ServerState, connections: Connections): void {
  const now = performance.now();
  const { limits } = shared;
  for (const connection of connections) {
    const { socket } = connection;
    if (isStalled(connection, now, limits.answerMs)) socket.destroy();
    else if (!connection.hasCompletedRequest && !connection.closing && now - connection.acceptedAt > requestDeadlineMs(limits)) {
      endConnection(shared, connection, tooSlow(limits));
    }
  }
}

async function drain(server: Server, connections: Connections, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const { socket, hasCompletedRequest: opened, receiving } of connections) {
    if (!opened && receiving === 0) socket.destroy();
  }
  const timer = setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, drainMs);
  await closed;
  clearTimeout(timer);
}

function listen(server: Server, { host, port }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen(port, host, () => resolve());
  });
}

/** `localhost` for every address that it reaches: the certificate names it, and `https://[::1]` never validates on node 22. */
function hostInUrl(host: string): string {
  if (/^(localhost|127(\.\d+){3}|::1|0\.0\.0\.0|::)$/.test(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
