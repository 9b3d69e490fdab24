import type { Socket } from 'node:net';
import { ConfigError } from '../../errors.ts';
import { defaultLimits } from '../../http/server/server-options.ts';
import { BodyBudget, type BufferedBody, validateHeaders } from '../../http/server/connections.ts';
import { type AnswerWriter, lingeringClose, sendAnswer } from '../../http/server/send-answer.ts';
import { forApplication } from '../../messages/application.ts';
import { messageFor } from '../../messages/find-message.ts';
import { headerValues } from '../../webhook/delivery.ts';
import { inWords } from '../../messages/http.ts';
import {
  answerForOutcome,
  type DeliveryAnswer,
  type Rejection,
  rejection,
} from '../../webhook/delivery-answer.ts';
import { memberOf, noRequest, NoRequestError } from '../webhook/no-request.ts';
import { ParsedBodyError } from '../webhook/parsed-body-error.ts';
import { bodySource, readBody, requestHead, tooLarge } from '../webhook/read-body.ts';
import {
  type FetchRequest,
  isNodeRequest,
  type NodeRequest,
  type WebhookRequest,
} from '../webhook/request.ts';
import { type CheckedOptions, withHint } from './checked-options.ts';
import { ReceiverLife } from './receiver-lifecycle.ts';

/** Opens the inbox, begins to hand over what is outstanding, and takes requests. */
export function startReceiver(checked: CheckedOptions): WebhookReceiver {
  const options: CheckedOptions = {
    ...checked,
    onError: (error, about) => checked.onError(forApplication(error, messageFor), about),
  };
  const life = new ReceiverLife(options);
  const receive = requestReceiver(options, life);
  const receiveNode = async (request: unknown): Promise<RequestAnswer> => {
    if (typeof request === 'object' && request !== null && isNodeRequest(request))
      return receive(request, invalidHead(request));
    // A wrapper of a framework may look like the parts of a request, and is none whose body is unread.
    const error = noRequest(request);
    options.onError(error, {});
    return mistakeAnswer(error);
  };
  return {
    async fetch(request) {
      const { answer } = await receive(request);
      const { type, content } = answer.text ?? {
        type: 'application/json',
        content: JSON.stringify(answer.body),
      };
      const body = answer.status === 204 ? null : content;
      return new Response(body, {
        status: answer.status,
        headers: { 'content-type': type, ...answer.headers },
      });
    },
    async node(request, response) {
      try {
        const writer = responseIn(response);
        answerNode(request, writer, await receiveNode(request));
      } catch (error) {
        options.onError(error, {});
      }
    },
    async ready() {
      // An inbox that is opened now would never be closed.
      if (life.isClosing) throw new ConfigError('the receiver is closed');
      await life.opened();
    },
    close: () => life.close(),
  };
}

/** Its functions can be passed on without their object. */
export interface WebhookReceiver {
  /** For Hono (`c.req.raw`), route handlers of Next, and whatever else has a Fetch `Request`. Never rejects. */
  readonly fetch: (request: FetchRequest) => Promise<Response>;
  /**
   * For Express, `node:http`, and Fastify (`request.raw`, `reply.raw`, after `reply.hijack()`). Resolves when the answer is
   * written. Never rejects: a body that was parsed before, and what is no request, is answered 500 with the fix, and told to `onError`.
   */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
  /**
   * Rejects with what opening the inbox failed with, and after `close`. Deliveries need not wait for it: they are answered
   * 503 then.
   */
  readonly ready: () => Promise<void>;
  /**
   * Takes nothing more (503), waits for what is in flight, calls of `onLead` included, and closes the inbox that it
   * opened. Takes at most twice `onLeadTimeoutMs` beside `bodyTimeoutMs`.
   */
  readonly close: () => Promise<void>;
}

/** An answer, and whether the request was read to its end: otherwise its connection is of no more use. */
interface RequestAnswer {
  readonly answer: Pick<DeliveryAnswer, 'status' | 'headers' | 'text'> & { readonly body: object };
  readonly isRead: boolean;
}

interface BodyOfRequest extends BufferedBody {
  reject: (rejected: Rejection) => void;
}

/**
 * Takes requests of any framework to their answers. Never rejects: what fails is told to `onError`. `invalid`: what is wrong
 * with the request before its body is looked at.
 */
function requestReceiver(
  options: CheckedOptions,
  life: ReceiverLife,
): (request: WebhookRequest, invalid?: Rejection) => Promise<RequestAnswer> {
  const { clock, maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs, onError } = options;
  const bodies = new BodyBudget(defaultLimits.bufferedBytes);
  const receive = async (
    request: WebhookRequest,
    buffered: BodyOfRequest,
    invalid: Rejection | undefined,
  ): Promise<RequestAnswer> => {
    const head = await requestHead(request, clock.now());
    const source = await bodySource(request);
    if (life.isClosing) return closing();
    const { receiver } = await life.opened();
    const declared = Number(headerValues(head, 'content-length')[0] ?? 0);
    let isHeadChecked = false;
    const read =
      invalid ??
      (declared > maxBytes
        ? tooLarge(maxBytes)
        : await readBody(source, {
            maxBytes,
            timeoutMs,
            clock,
            onStart: (reject) => (buffered.reject = reject),
            onPiece: ({ length }, size) => {
              bodies.add(buffered, length);
              // A sender without a credential must not make us keep a whole body.
              if (isHeadChecked || size <= defaultLimits.uncheckedBytes) return undefined;
              isHeadChecked = true;
              return receiver.checkHead(head);
            },
          }));
    if (read.kind === 'rejected') {
      return { answer: await receiver.handleRejected(head, read), isRead: false };
    }
    bodies.complete(buffered);
    const delivery = { ...head, body: read.bytes, receivedAt: clock.now() };
    return { answer: await receiver.handle(delivery), isRead: true };
  };
  return (request, invalid) =>
    life.counted(async () => {
      const body: BodyOfRequest = {
        cost: 0,
        reject: () => undefined,
        evict: () => body.reject(rejection('overloaded', 'all bodies together take too much memory')),
      };
      try {
        return await receive(request, body, invalid);
      } catch (error) {
        onError(error, {});
        if (error instanceof ParsedBodyError || error instanceof NoRequestError) return mistakeAnswer(error);
        return { answer: answerForOutcome(rejection('cannot_store', '')), isRead: false };
      } finally {
        bodies.release(body);
      }
    });
}

const closing = (): RequestAnswer => ({
  answer: answerForOutcome(rejection('overloaded', 'the receiver is being closed')),
  isRead: false,
});

/** The only faults of the application that are said to the sender: nobody could find them otherwise. */
const mistakeAnswer = (error: ParsedBodyError | NoRequestError): RequestAnswer => ({
  answer: {
    status: 500,
    body: { error: error instanceof ParsedBodyError ? error.code : 'no_request', message: withHint(error) },
  },
  isRead: true,
});

/** A response of `node:http`, Express's, or Fastify's `reply.raw`; nothing of it is sent yet. */
export interface NodeResponse extends AnswerWriter {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  readonly socket?: unknown;
}

/** The response itself, or the one that a framework has wrapped. Throws a `NoRequestError` where there is none. */
function responseIn(given: NodeResponse): NodeResponse {
  const found = [given, memberOf(given, 'raw'), memberOf(given, 'res')].find(isNodeResponse);
  if (found !== undefined) return found;
  throw new NoRequestError('what was given to answer with is no response', {
    hint: "give the response of node:http or Express, Fastify's reply.raw, or Koa's ctx.res",
  });
}

const isNodeResponse = (given: unknown): given is NodeResponse =>
  typeof given === 'object' && given !== null && 'writeHead' in given && 'headersSent' in given;

/** What node's parser accepts and the CLI's receiver does not: too many headers, two of which one is dropped. */
function invalidHead(request: NodeRequest): Rejection | undefined {
  // HTTP/2 has no Host and no transfer coding.
  if (!isHttp1(request)) return undefined;
  // Its length is looked at later, against the receiver's own limit.
  const limits = { headers: defaultLimits.headers, bodyBytes: Infinity };
  const head = validateHeaders(request, limits);
  return 'kind' in head ? inWords(head) : undefined;
}

/** Sends the answer, unless the client is gone. */
function answerNode(request: unknown, response: NodeResponse, { answer, isRead }: RequestAnswer): void {
  if (response.destroyed || response.writableEnded || response.headersSent) return;
  const isLast = !isRead && isHttp1(request);
  const { socket } = response;
  // Node would close at once, and a client that is still sending would lose the answer.
  if (isLast && isSocket(socket)) socket.destroySoon = () => lingeringClose(socket);
  sendAnswer(response, answer, isLast);
}

const isHttp1 = (request: unknown): boolean =>
  typeof request === 'object' &&
  request !== null &&
  isNodeRequest(request) &&
  request.httpVersion.startsWith('1.');

/** Loading `node:net` to ask would slow the start of every application down. */
const isSocket = (socket: unknown): socket is Socket =>
  typeof socket === 'object' && socket !== null && 'destroySoon' in socket;
