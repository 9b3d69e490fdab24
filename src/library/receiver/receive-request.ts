import { answerForOutcome, type DeliveryAnswer } from '../../webhook/delivery-answer.ts';
import { headerValues } from '../../webhook/delivery.ts';
import { type Rejection, rejection } from '../../webhook/rejection.ts';
import { BodyBudget, type BufferedBody } from '../../http/server/request/body-budget.ts';
import { defaultLimits } from '../../http/server/limits.ts';
import { tooLarge } from '../../http/server/request/validate-headers.ts';
import { bodySource } from '../webhook/request/body-source.ts';
import { deliveryHead } from '../webhook/request/delivery-head.ts';
import { ParsedBodyError } from '../webhook/request/parsed-body-error.ts';
import { type ReadBody, readBody } from '../webhook/request/read-body.ts';
import type { WebhookRequest } from '../webhook/request/request-types.ts';
import type { CheckedOptions } from './checked-options.ts';
import { withHint } from './error-text.ts';
import type { ReceiverLife } from './receiver-life.ts';

/** An answer, and whether the request was read to its end: otherwise its connection is of no more use. */
export interface RequestAnswer {
  readonly answer: Pick<DeliveryAnswer, 'status' | 'headers'> & { readonly body: object };
  readonly isRead: boolean;
}

/** Takes requests of any framework to their answers. Never rejects: what fails is told to `onError`. */
export class RequestReceiver {
  readonly #options: CheckedOptions;
  readonly #life: ReceiverLife;
  readonly #bodies = new BodyBudget(defaultLimits.bufferedBytes);

  constructor(options: CheckedOptions, life: ReceiverLife) {
    this.#options = options;
    this.#life = life;
  }

  /** `invalid`: what is wrong with the request before its body is looked at. */
  receive(request: WebhookRequest, invalid?: Rejection): Promise<RequestAnswer> {
    return this.#life.counted(async () => {
      const body: BufferedBody & { reject: (rejected: Rejection) => void } = {
        cost: 0,
        reject: () => undefined,
        evict: () => body.reject(rejection('overloaded', 'all bodies together take too much memory')),
      };
      try {
        return await this.#receive(request, body, invalid);
      } catch (error) {
        this.#options.onError(error, {});
        if (error instanceof ParsedBodyError) return parsedBodyAnswer(error);
        return { answer: answerForOutcome(rejection('cannot_store', '')), isRead: false };
      } finally {
        this.#bodies.release(body);
      }
    });
  }

  async #receive(
    request: WebhookRequest,
    buffered: BufferedBody & { reject: (rejected: Rejection) => void },
    invalid: Rejection | undefined,
  ): Promise<RequestAnswer> {
    const { clock, maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs } = this.#options;
    const head = deliveryHead(request, clock.now());
    const source = await bodySource(request);
    if (this.#life.isClosing) return closing();
    const { receiver } = await this.#life.opened();
    const declared = Number(headerValues(head, 'content-length')[0] ?? 0);
    let read: ReadBody;
    if (invalid !== undefined) read = invalid;
    else if (declared > maxBytes) read = tooLarge(maxBytes);
    else {
      let isHeadChecked = false;
      read = await readBody(source, {
        maxBytes,
        timeoutMs,
        clock,
        onStart: (reject) => (buffered.reject = reject),
        onPiece: ({ length }, size) => {
          this.#bodies.add(buffered, length);
          // A sender without a credential must not make us keep a whole body.
          if (isHeadChecked || size <= defaultLimits.uncheckedBytes) return undefined;
          isHeadChecked = true;
          return receiver.checkHead(head);
        },
      });
    }
    if (read.kind === 'rejected') {
      return { answer: await receiver.handleRejected(head, read), isRead: false };
    }
    this.#bodies.complete(buffered);
    const delivery = { ...head, body: read.bytes, receivedAt: clock.now() };
    return { answer: await receiver.handle(delivery), isRead: true };
  }
}

const closing = (): RequestAnswer => ({
  answer: answerForOutcome(rejection('overloaded', 'the receiver is being closed')),
  isRead: false,
});

/** The only fault of the application that is said to the sender: nobody could find it otherwise. */
const parsedBodyAnswer = (error: ParsedBodyError): RequestAnswer => ({
  answer: { status: 500, body: { error: error.code, message: withHint(error) } },
  isRead: true,
});
