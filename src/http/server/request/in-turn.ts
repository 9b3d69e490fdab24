import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from '../connection/connections.ts';

/** Starts to handle a request. */
export type Handle = (connection: Connection, request: IncomingMessage, response: ServerResponse) => void;

/**
 * Starts each request of a connection when the answer to the one ahead of it has left: a client need not wait for
 * answers, but POST requests are not to be handled in parallel (RFC 9112, section 9.3.2). Behind an answer that closes
 * the connection nothing is started (section 9.6).
 */
export function startInTurn(
  handle: Handle,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { latest, waiting } = connection;
  const start = (): void => {
    connection.latest = response;
    handle(connection, request, response);
  };
  if (connection.closing) request.resume();
  else if (latest === undefined || (waiting.length === 0 && latest.writableFinished)) start();
  else {
    if (waiting.length === 0) latest.once('close', () => startNext(connection));
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
