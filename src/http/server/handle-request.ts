import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerForOutcome } from '../../webhook/delivery-answer.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { rejection, type Rejection } from '../../webhook/rejection.ts';
import { lingeringClose, sendAnswer, type Answer } from './send-answer.ts';
import type { Connection } from './connections.ts';
import { validateHeaders, tooLarge, type RequestHead } from './validate-headers.ts';
import type { Limits } from './limits.ts';
import type { HttpServerOptions } from './server-types.ts';

/** What the exchanges of one receiver share. */
export interface ServerState {
  readonly options: HttpServerOptions;
  readonly limits: Limits;
  readonly scheme: 'https' | 'http';
  /** Bytes of unfinished bodies. */
  buffered: number;
  /** Set when the receiver is closing: every answer is its connection's last. */
  draining: boolean;
}

/** Takes one request from its head to its answer. */
export function handleRequest(
  shared: ServerState,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const head = validateHeaders(request, shared.limits);
  if ('status' in head) {
    rejectRequest(shared, connection, request, response, head);
    return;
  }
  if (request.headers.expect !== undefined) response.writeContinue();
  receiveBody(shared, connection, request, response, head);
}

function receiveBody(
  shared: ServerState,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): void {
  const { limits } = shared;
  const chunks: Buffer[] = [];
  let size = 0;
  let over = false;
  const settle = (): void => {
    over = true;
    shared.buffered -= size;
    connection.receiving -= 1;
  };
  connection.receiving += 1;
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    size += chunk.length;
    shared.buffered += chunk.length;
    chunks.push(chunk);
    const refused =
      size > limits.bodyBytes
        ? tooLarge(limits.bodyBytes)
        : shared.buffered > limits.bufferedBytes
          ? rejection('overloaded', 'too many unfinished requests')
          : undefined;
    if (refused === undefined) return;
    settle();
    chunks.length = 0;
    rejectRequest(shared, connection, request, response, refused);
  });
  request.on('end', () => {
    if (over) return;
    settle();
    connection.hasCompletedRequest = true;
    void answerDelivery(shared, connection, response, deliveryOf(shared, request, head, chunks));
  });
  request.on('close', () => {
    if (over) return;
    settle();
    if (connection.closing || shared.draining) return;
    const of = head.length === undefined ? '' : ` of ${head.length}`;
    reportRejected(
      shared,
      request,
      rejection('incomplete_body', `the connection ended after ${size}${of} bytes of the body`),
    );
  });
}

function deliveryOf(shared: ServerState, request: IncomingMessage, head: RequestHead, chunks: Buffer[]): Delivery {
  const path = request.url ?? '/';
  return {
    method: request.method ?? '',
    path,
    // An absolute target names its own host (RFC 9112, section 3.2.2).
    url: path.startsWith('/') ? `${shared.scheme}://${head.host}${path}` : path,
    rawHeaders: head.rawHeaders,
    body: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks),
    remote: request.socket.remoteAddress ?? '',
    receivedAt: shared.options.clock.now(),
  };
}

async function answerDelivery(
  shared: ServerState,
  connection: Connection,
  response: ServerResponse,
  delivery: Delivery,
): Promise<void> {
  connection.unanswered += 1;
  let given: Answer;
  try {
    given = await shared.options.handle(delivery);
  } catch (error) {
    shared.options.onError(error, delivery);
    given = answerForOutcome(rejection('cannot_store', 'a bug of the receiver'));
  }
  connection.unanswered -= 1;
  try {
    sendAnswer(response, given, shared.draining);
  } catch (error) {
    shared.options.onError(error, delivery);
    response.destroy();
  }
}

/** Answers a request whose body is not wanted, and ends its connection. */
export function rejectRequest(
  shared: ServerState,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  refused: Rejection,
): void {
  const { socket } = request;
  connection.closing = true;
  // Node would close at once, on what the client still sends.
  socket.destroySoon = () => lingeringClose(socket);
  sendAnswer(response, answerForOutcome(refused), true);
  reportRejected(shared, request, refused);
}

function reportRejected(shared: ServerState, request: IncomingMessage, refused: Rejection): void {
  shared.options.onRejected?.({
    ...refused,
    remote: request.socket.remoteAddress ?? '',
    receivedAt: shared.options.clock.now(),
    method: request.method,
    path: request.url,
  });
}
