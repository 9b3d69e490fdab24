import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerFor } from '../../webhook/answer.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { rejection, type Rejection } from '../../webhook/rejection.ts';
import { linger, sendAnswer, type Answer } from './send-answer.ts';
import type { Connection } from './connections.ts';
import { validateHeaders, tooLarge, type RequestHead } from './validate-headers.ts';
import type { Limits } from './limits.ts';
import type { HttpServerOptions } from './server-types.ts';

/** What the exchanges of one receiver share. */
export interface Shared {
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
  shared: Shared,
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
  receive(shared, connection, request, response, head);
}

function receive(
  shared: Shared,
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
    connection.opened = true;
    void answer(shared, connection, response, deliveryOf(shared, request, head, chunks));
  });
  request.on('close', () => {
    if (over) return;
    settle();
    if (connection.ending || shared.draining) return;
    const of = head.length === undefined ? '' : ` of ${head.length}`;
    report(
      shared,
      request,
      rejection('incomplete_body', `the connection ended after ${size}${of} bytes of the body`),
    );
  });
}

function deliveryOf(shared: Shared, request: IncomingMessage, head: RequestHead, chunks: Buffer[]): Delivery {
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

async function answer(
  shared: Shared,
  connection: Connection,
  response: ServerResponse,
  delivery: Delivery,
): Promise<void> {
  connection.pending += 1;
  let given: Answer;
  try {
    given = await shared.options.handle(delivery);
  } catch (error) {
    shared.options.onError(error, delivery);
    given = answerFor(rejection('cannot_store', 'a bug of the receiver'));
  }
  connection.pending -= 1;
  try {
    sendAnswer(response, given, shared.draining);
  } catch (error) {
    shared.options.onError(error, delivery);
    response.destroy();
  }
}

/** Answers a request whose body is not wanted, and ends its connection. */
export function rejectRequest(
  shared: Shared,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  refused: Rejection,
): void {
  const { socket } = request;
  connection.ending = true;
  // Node would close at once, on what the client still sends.
  socket.destroySoon = () => linger(socket);
  sendAnswer(response, answerFor(refused), true);
  report(shared, request, refused);
}

function report(shared: Shared, request: IncomingMessage, refused: Rejection): void {
  shared.options.onRefused?.({
    ...refused,
    remote: request.socket.remoteAddress ?? '',
    receivedAt: shared.options.clock.now(),
    method: request.method,
    path: request.url,
  });
}
