import type { Source, TakeResult } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import { answerForOutcome, type DeliveryAnswer, type DeliveryOutcome } from '../webhook/delivery-answer.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { AnsweredDelivery } from './answered-delivery.ts';
import type { EventStream } from './event-stream.ts';
import type { SimulatedFailures } from './simulated-failures.ts';
import type { TargetResult } from './targets/target.ts';

/** All that is known of a delivery once its verdict is made. */
export interface DecidedDelivery {
  readonly delivery: Delivery;
  readonly source: Source;
  readonly verdict: DeliveryOutcome;
  readonly leadId?: string | undefined;
  /** Absent when the delivery was rejected before or by the check. */
  readonly checked?: CheckedDelivery | undefined;
  /** Absent when the inbox did not take the delivery. */
  readonly stored?: Exclude<TakeResult, { readonly kind: 'rejected' }> | undefined;
  readonly targetResults?: readonly TargetResult[] | undefined;
  readonly explanation?: readonly string[] | undefined;
}

interface DeliveryAnswererOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly events: Pick<EventStream<AnsweredDelivery>, 'emit'>;
  readonly redactPath: (delivery: Delivery) => string;
  readonly failures: SimulatedFailures | undefined;
}

/** The last step, to answered: makes the answer, and emits the event of it. */
export class DeliveryAnswerer {
  readonly #options: DeliveryAnswererOptions;

  constructor(options: DeliveryAnswererOptions) {
    this.#options = options;
  }

  /** Resolves with the answer when every listener of the event has room for more. */
  async answer(decided: DecidedDelivery): Promise<DeliveryAnswer> {
    const { failures, events } = this.#options;
    const { verdict } = decided;
    const ordinary = answerForOutcome(verdict);
    const answer =
      verdict.kind === 'rejected' || failures === undefined
        ? ordinary
        : { ...ordinary, status: failures.statusFor(ordinary.status) };
    const room = events.emit(this.#eventOf(decided, answer.status));
    if (room !== undefined) await room;
    return answer;
  }

  #eventOf(decided: DecidedDelivery, status: number): AnsweredDelivery {
    const { clock, redactPath } = this.#options;
    const { delivery, verdict, checked, stored } = decided;
    const rejected = verdict.kind === 'rejected' ? verdict : undefined;
    return {
      delivery,
      receivedAt: delivery.receivedAt,
      verdict: verdict.kind,
      status,
      durationMs: Math.max(0, clock.now() - delivery.receivedAt),
      remote: delivery.remote,
      method: delivery.method,
      path: redactPath(delivery),
      source: decided.source,
      reason: rejected?.reason,
      detail: rejected?.detail,
      leadId: checked?.leadId ?? decided.leadId,
      attempt: stored?.attempt,
      firstAt: stored?.firstAt,
      lead: rejected === undefined ? checked?.lead.bytes : undefined,
      differs: stored?.differs,
      warnings: checked?.warnings,
      targetResults: decided.targetResults,
      explanation: decided.explanation,
    };
  }
}
