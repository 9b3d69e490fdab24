import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  closedAfterHandshakeDetail,
  handshakeDetail,
  type ParserError,
  rejectionFor,
  tooSlow,
} from './connection-errors.ts';
import { closedAfterHandshake, type Connection, type Connections, isStalled } from './connections.ts';
import { requestDeadlineMs } from './limits.ts';
import { rejectConnection } from './reject-request.ts';
import type { ServerState } from './server-types.ts';

/** Registers every connection of a server, and reports those that fail before they carry a request. */
export function watchConnections(server: Server, state: ServerState, connections: Connections): void {
  const { options, limits } = state;
  const isPlain = options.tls === undefined;
  const handshakeFailed = (connection: Connection | undefined, code: string, detail: string): void => {
    if (connection !== undefined) connection.closing = true;
    options.onHandshake?.({ remote: connection?.remote ?? '', code, detail });
  };
  const afterClose = (connection: Connection): void => {
    if (!closedAfterHandshake(connection) || state.isDraining) return;
    handshakeFailed(connection, 'ERR_CLOSED', closedAfterHandshakeDetail);
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
    const detail = handshakeDetail(code);
    if (detail !== undefined) handshakeFailed(connections.handshakeOf(socket), code, detail);
    socket.destroy();
  });
  server.on('clientError', (error: ParserError, socket) => {
    // The client asked for the connection to be closed, and what it sent after that is ignored (RFC 9112, section 9.6).
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const rejected = rejectionFor(error, limits);
    const connection = connections.of(socket);
    if (rejected === undefined || connection === undefined) socket.destroy();
    // A connection that is being closed was answered already; this error is about the rest of that request.
    else if (!connection.closing) rejectConnection(state, connection, rejected);
  });
  // A client that could not be accepted must not affect the others.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (!server.listening) return;
    handshakeFailed(undefined, error.code ?? '', 'a connection could not be accepted');
  });
  server.on('drop', () => {
    // Makes room for others: closing a connection without a request loses nothing.
    server.closeIdleConnections();
    options.onFull?.(limits.connections);
  });
}

/** Closes connections whose first request is not complete in time, and those whose client does not read its answers. */
export function closeOverdue(state: ServerState, connections: Connections): void {
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
