import type { Socket } from 'node:net';
import { defaultLimits } from '../../http/server/limits.ts';
import { type AnswerWriter, lingeringClose, sendAnswer } from '../../http/server/request/send-answer.ts';
import { validateHeaders } from '../../http/server/request/validate-headers.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import type { NodeRequest } from '../webhook/request/request-types.ts';
import type { RequestAnswer } from './receive-request.ts';

/** A response of `node:http`, Express's, or Fastify's `reply.raw`; nothing of it is sent yet. */
export interface NodeResponse extends AnswerWriter {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  readonly socket?: unknown;
}

/** What node's parser accepts and the CLI's receiver does not: too many headers, two of which one is dropped. */
export function invalidHead(request: NodeRequest): Rejection | undefined {
  // HTTP/2 has no Host and no transfer coding.
  if (!isHttp1(request)) return undefined;
  // Its length is looked at later, against the receiver's own limit.
  const limits = { headers: defaultLimits.headers, bodyBytes: Infinity };
  const head = validateHeaders(request, limits);
  return 'kind' in head ? head : undefined;
}

/** Sends the answer, unless the client is gone. */
export function answerNode(
  request: NodeRequest,
  response: NodeResponse,
  { answer, isRead }: RequestAnswer,
): void {
  if (response.destroyed || response.writableEnded || response.headersSent) return;
  const isLast = !isRead && isHttp1(request);
  const { socket } = response;
  // Node would close at once, and a client that is still sending would lose the answer.
  if (isLast && isSocket(socket)) socket.destroySoon = () => lingeringClose(socket);
  sendAnswer(response, answer, isLast);
}

const isHttp1 = ({ httpVersion }: NodeRequest): boolean => httpVersion.startsWith('1.');

/** Loading `node:net` to ask would slow the start of every application down. */
const isSocket = (socket: unknown): socket is Socket =>
  typeof socket === 'object' && socket !== null && 'destroySoon' in socket;
