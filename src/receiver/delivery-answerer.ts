import { isErased } from '../inbox/decide-verdict.ts';
import type { Source } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import { answerForLeads, answerForOutcome, type DeliveryAnswer } from '../webhook/delivery-answer.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';
import type { AnsweredDelivery } from './answered-delivery.ts';
import type { StoredLead } from './delivery-store.ts';
import type { EventStream } from './event-stream.ts';
import type { SimulatedFailures } from './simulated-failures.ts';
import type { TargetResult } from './targets/target.ts';

/** A lead whose verdict is made. */
export interface DecidedLead extends StoredLead {
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  readonly targetResults?: readonly TargetResult[] | undefined;
}

interface DecidedDelivery {
  readonly delivery: Delivery;
  readonly source: Source;
  readonly leads: readonly DecidedLead[];
}

interface RejectedDelivery {
  readonly delivery: Delivery;
  readonly source: Source;
  readonly verdict: Rejection;
  readonly leadId?: string | undefined;
  readonly explanation?: readonly string[] | undefined;
}

interface DeliveryAnswererOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly events: Pick<EventStream<AnsweredDelivery>, 'emit'>;
  readonly redactPath: (delivery: Delivery) => string;
  readonly failures: SimulatedFailures | undefined;
}

/** The last step, to answered: makes the answer, and emits the events of it. */
export class DeliveryAnswerer {
  readonly #options: DeliveryAnswererOptions;

  constructor(options: DeliveryAnswererOptions) {
    this.#options = options;
  }

  /** Resolves with the answer when every listener of its events, one for each lead, has room for more. */
  async answer({ delivery, source, leads }: DecidedDelivery): Promise<DeliveryAnswer> {
    const { failures, events } = this.#options;
    const ordinary = answerForLeads(leads.map(({ kind, lead }) => ({ kind, leadId: lead.leadId })));
    const answer =
      failures === undefined ? ordinary : { ...ordinary, status: failures.statusFor(ordinary.status) };
    for (let i = 0; i < leads.length; i += 1) {
      const position = leads.length === 1 ? undefined : { number: i + 1, of: leads.length };
      const room = events.emit(
        this.#eventOf({ delivery, source, status: answer.status }, leads[i], position),
      );
      if (room !== undefined) await room;
    }
    return answer;
  }

  /** The same for a delivery that is not taken. */
  async answerRejected(rejected: RejectedDelivery): Promise<DeliveryAnswer> {
    const answer = answerForOutcome(rejected.verdict);
    const room = this.#options.events.emit(this.#eventOf({ ...rejected, status: answer.status }));
    if (room !== undefined) await room;
    return answer;
  }

  /** Written out, since copying parts into it would cost more than all else of the answer. */
  #eventOf(
    event: Pick<AnsweredDelivery, 'delivery' | 'source' | 'status'> & Partial<RejectedDelivery>,
    decided?: DecidedLead,
    position?: AnsweredDelivery['position'],
  ): AnsweredDelivery {
    const { clock, redactPath } = this.#options;
    const { delivery, source, status, verdict } = event;
    return {
      delivery,
      receivedAt: delivery.receivedAt,
      verdict: decided?.kind ?? 'rejected',
      status,
      durationMs: Math.max(0, clock.now() - delivery.receivedAt),
      remote: delivery.remote,
      method: delivery.method,
      path: redactPath(delivery),
      source,
      reason: verdict?.reason,
      detail: verdict?.detail,
      leadId: decided?.lead.leadId ?? event.leadId,
      position,
      attempt: decided?.stored.attempt,
      firstAt: decided?.stored.firstAt,
      lead: decided === undefined || isErased(decided.stored) ? undefined : decided.lead.lead.bytes,
      differs: decided?.stored.differs,
      warnings: decided?.lead.warnings,
      targetResults: decided?.targetResults,
      explanation: event.explanation,
    };
  }
}
