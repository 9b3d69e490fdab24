import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerForOutcome } from '../../../webhook/delivery-answer.ts';
import type { Rejection } from '../../../webhook/rejection.ts';
import { type Connection, hasSentRequestBytes } from '../connection/connections.ts';
import { lingeringClose, rawAnswer, sendAnswer } from './send-answer.ts';
import type { ServerState } from '../server-types.ts';

/** Answers a request whose body is not wanted, and closes its connection. */
export function rejectRequest(
  state: ServerState,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  rejected: Rejection,
): void {
  const { socket } = request;
  connection.closing = true;
  // Node would close at once, with bytes that the client still sends unread.
  socket.destroySoon = () => lingeringClose(socket);
  sendAnswer(response, answerForOutcome(rejected), true);
  reportRejected(state, request, rejected);
}

/** Reports a request that was rejected before it was a complete delivery. */
export function reportRejected(state: ServerState, request: IncomingMessage, rejected: Rejection): void {
  state.options.onRejected?.({
    ...rejected,
    remote: request.socket.remoteAddress ?? '',
    receivedAt: state.options.clock.now(),
    method: request.method,
    path: request.url,
  });
}

/** Closes a connection for which there is no response object, after an answer where the client can still read one. */
export function rejectConnection(
  state: ServerState,
  connection: Connection,
  rejected: Rejection,
  request: { method?: string | undefined; path?: string | undefined } = {},
): void {
  const { socket, remote } = connection;
  connection.closing = true;
  // A client that sent nothing has made no request that could be reported.
  if (rejected.reason === 'too_slow' && !hasSentRequestBytes(connection)) {
    socket.destroy();
    return;
  }
  state.options.onRejected?.({ ...rejected, ...request, remote, receivedAt: state.options.clock.now() });
  // With another request unanswered, the client would take this for the answer to that one.
  if (connection.unanswered > 0 || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(rawAnswer(answerForOutcome(rejected)));
  lingeringClose(socket);
}
