import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery } from '../../webhook/delivery.ts';
import { answerForOutcome, rejection } from '../../webhook/rejection.ts';
import type { Connection } from './connections.ts';
import { IncomingBody, rejectionOf, type RequestHead, validateHeaders } from './incoming-request.ts';
import { closeAfterAnswer, prefersHtml, rejectRequest, reportRejected } from './reject-request.ts';
import {
  type Answer,
  sendAnswer,
  sendPage,
  streamAnswer,
  type StreamedAnswer,
  withHeaders,
} from './send-answer.ts';
import type { ServerState } from './server-options.ts';

/** Takes one request from its head to its answer. */
export function handleRequest(
  state: ServerState,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const head = validateHeaders(request, state.limits);
  if ('status' in head) {
    rejectRequest(state, connection, request, response, head);
    return;
  }
  const { page } = state.options;
  if (page !== undefined && request.method === 'GET' && prefersHtml(request.headers.accept)) {
    request.resume();
    sendPage(response, page, state.isDraining);
    return;
  }
  const deliveryWith = (pieces: readonly Buffer[]): Delivery => deliveryOf(state, request, head, pieces);
  const body = new IncomingBody(state, connection, {
    checkHead(pieces) {
      const rejected = state.options.checkHead?.(deliveryWith(pieces));
      if (rejected === undefined && request.headers.expect !== undefined) response.writeContinue();
      return rejected;
    },
    complete(pieces) {
      connection.hasCompletedRequest = true;
      void answerDelivery(state, connection, response, deliveryWith(pieces), body);
    },
    rejected: (rejected, start) =>
      rejectRequest(state, connection, request, response, rejected, deliveryWith([start])),
    ended(size) {
      if (connection.closing || state.isDraining) return;
      const cut = { kind: 'body-cut-off', received: size, length: head.length } as const;
      reportRejected(state, request, rejectionOf('incomplete_body', cut));
    },
  });
  body.receive(request, head);
}

function deliveryOf(
  state: ServerState,
  request: IncomingMessage,
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
    remote: request.socket.remoteAddress ?? '',
    receivedAt: state.options.clock.now(),
  };
}

async function answerDelivery(
  state: ServerState,
  connection: Connection,
  response: ServerResponse,
  delivery: Delivery,
  body: IncomingBody,
): Promise<void> {
  let answer: Answer | StreamedAnswer;
  try {
    answer = await state.options.handle(delivery);
  } catch (error) {
    state.options.onError(error, delivery);
    answer = answerForOutcome(rejection('cannot_store', undefined));
  }
  body.release();
  try {
    if (state.isDraining) connection.closing = true;
    if (connection.closing && connection.waiting.length > 0) closeAfterAnswer(connection);
    const whole = withHeaders(answer, state.options.headers);
    if ('stream' in whole) await streamAnswer(response, whole, connection.closing);
    else sendAnswer(response, whole, connection.closing);
  } catch (error) {
    state.options.onError(error, delivery);
    response.destroy();
  }
}

/** Starts to handle a request. */
export type Handle = (connection: Connection, request: IncomingMessage, response: ServerResponse) => void;

/**
 * Starts each request of a connection when the one ahead of it is answered, and the client reads: it need not wait for
 * answers, but POST requests are not to be handled in parallel (RFC 9112, section 9.3.2). Behind an answer that closes
 * the connection nothing is started (section 9.6).
 */
export function startInTurn(
  handle: Handle,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { latest, waiting, socket } = connection;
  // That the answer has left is seen only after the client's next request, as a rule.
  const isAnswered = latest === undefined || (latest.writableEnded && !socket.writableNeedDrain);
  const start = (): void => {
    connection.latest = response;
    handle(connection, request, response);
  };
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
