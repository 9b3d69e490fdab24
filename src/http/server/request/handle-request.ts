import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerForOutcome } from '../../../webhook/delivery-answer.ts';
import type { Delivery } from '../../../webhook/delivery.ts';
import { rejection } from '../../../webhook/rejection.ts';
import { rejectRequest, reportRejected } from './reject-request.ts';
import { type Answer, sendAnswer } from './send-answer.ts';
import type { Connection } from '../connection/connections.ts';
import { validateHeaders, tooLarge, type RequestHead } from './validate-headers.ts';
import type { ServerState } from '../server-types.ts';

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
  if (request.headers.expect !== undefined) response.writeContinue();
  receiveBody(state, connection, request, response, head);
}

function receiveBody(
  state: ServerState,
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): void {
  const { limits } = state;
  const chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const finish = (): void => {
    isOver = true;
    state.bufferedBytes -= size;
    connection.receiving -= 1;
  };
  connection.receiving += 1;
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    size += chunk.length;
    state.bufferedBytes += chunk.length;
    chunks.push(chunk);
    const rejected =
      size > limits.bodyBytes
        ? tooLarge(limits.bodyBytes)
        : state.bufferedBytes > limits.bufferedBytes
          ? rejection('overloaded', 'too many unfinished requests')
          : undefined;
    if (rejected === undefined) return;
    finish();
    chunks.length = 0;
    rejectRequest(state, connection, request, response, rejected);
  });
  request.on('end', () => {
    if (isOver) return;
    finish();
    connection.hasCompletedRequest = true;
    void answerDelivery(state, connection, response, deliveryOf(state, request, head, chunks));
  });
  request.on('close', () => {
    if (isOver) return;
    finish();
    if (connection.closing || state.isDraining) return;
    const length = head.length === undefined ? '' : ` of ${head.length}`;
    const detail = `the connection ended after ${size}${length} bytes of the body`;
    reportRejected(state, request, rejection('incomplete_body', detail));
  });
}

function deliveryOf(
  state: ServerState,
  request: IncomingMessage,
  head: RequestHead,
  chunks: Buffer[],
): Delivery {
  const path = request.url ?? '/';
  return {
    method: request.method ?? '',
    path,
    // An absolute target names its own host (RFC 9112, section 3.2.2).
    url: path.startsWith('/') ? `${state.protocol}://${head.host}${path}` : path,
    rawHeaders: head.rawHeaders,
    body: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks),
    remote: request.socket.remoteAddress ?? '',
    receivedAt: state.options.clock.now(),
  };
}

async function answerDelivery(
  state: ServerState,
  connection: Connection,
  response: ServerResponse,
  delivery: Delivery,
): Promise<void> {
  connection.unanswered += 1;
  let answer: Answer;
  try {
    answer = await state.options.handle(delivery);
  } catch (error) {
    state.options.onError(error, delivery);
    answer = answerForOutcome(rejection('cannot_store', 'a bug of the receiver'));
  }
  connection.unanswered -= 1;
  try {
    sendAnswer(response, answer, state.isDraining);
  } catch (error) {
    state.options.onError(error, delivery);
    response.destroy();
  }
}
