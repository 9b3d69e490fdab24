import type { Source, TakeResult } from '../inbox/inbox.ts';
import { CannotStoreError } from '../inbox/cannot-store-error.ts';
import type { Messages } from '../output/messages.ts';
import type { Clock } from '../time/clock.ts';
import type { DeliveryAnswer } from '../webhook/delivery-answer.ts';
import { checkDelivery, type CheckedDelivery, type Policy } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { type Rejection, rejection } from '../webhook/rejection.ts';
import type { DecidedDelivery, DeliveryAnswerer } from './delivery-answerer.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { DispatchedDelivery, Dispatcher } from './dispatcher.ts';
import type { ExplainRejection } from './explain-rejection.ts';
import type { HostGuard } from './host-guard.ts';
import type { SimulatedFailures } from './simulated-failures.ts';

interface DeliveryHandlerOptions {
  readonly policy: Policy;
  readonly hostGuard: HostGuard | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly messages: Pick<Messages, 'note'>;
  readonly store: DeliveryStore;
  readonly dispatcher: Dispatcher;
  readonly answerer: DeliveryAnswerer;
  readonly failures: SimulatedFailures | undefined;
  readonly explain: ExplainRejection | undefined;
}

/**
 * The contract's order of work for a delivery. Its states, in order: received (`Delivery`), checked
 * (`CheckedDelivery`), stored (`TakeResult`), dispatched (`DispatchedDelivery`), answered (`AnsweredDelivery`). A
 * rejection leads from any of them to answered.
 */
export class DeliveryHandler {
  readonly #options: DeliveryHandlerOptions;

  constructor(options: DeliveryHandlerOptions) {
    this.#options = options;
  }

  /** From received to answered. */
  async handle(delivery: Delivery): Promise<DeliveryAnswer> {
    const { policy, hostGuard, clock, failures } = this.#options;
    const foreign = hostGuard?.(delivery);
    if (foreign !== undefined) return this.handleRejected(delivery, foreign);
    const checked = checkDelivery(delivery, policy, clock.now());
    if (checked.kind === 'rejected') return this.handleRejected(delivery, checked);
    const failure = failures?.failureFor(checked.leadId);
    if (failure === undefined) return this.handleChecked(checked, 'push');
    await failures?.wait();
    return this.handleRejected(delivery, failure, checked.leadId);
  }

  /** From checked to answered. */
  async handleChecked(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> {
    const { store, dispatcher, failures, answerer } = this.#options;
    this.#noteOldSecret(checked);
    let stored: TakeResult;
    let dispatched: DispatchedDelivery | undefined;
    try {
      stored = await store.store(checked, source);
      if (stored.kind === 'pending') dispatched = await dispatcher.dispatch(checked, stored);
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      const verdict = rejection('cannot_store', error.message);
      return answerer.answer({ delivery: checked.delivery, source, checked, verdict });
    }
    const delay = failures?.wait();
    if (delay !== undefined) await delay;
    return answerer.answer(decide(checked, source, stored, dispatched));
  }

  /** From rejected to answered: keeps the delivery for those who look into the inbox. */
  handleRejected(delivery: Delivery, verdict: Rejection, leadId?: string): Promise<DeliveryAnswer> {
    const { store, explain, answerer } = this.#options;
    store.keepRejected(delivery, verdict, leadId);
    const explanation = explain?.(delivery, verdict);
    return answerer.answer({ delivery, source: 'push', verdict, leadId, explanation });
  }

  /** The first secret is the current one. Another can only be removed when no sender uses it any more. */
  #noteOldSecret({ key }: CheckedDelivery): void {
    if (key < 1) return;
    const { messages, policy } = this.#options;
    messages.note('rotation', `deliveries still use secret ${key + 1} of ${policy.keys.length}`);
  }
}

function decide(
  checked: CheckedDelivery,
  source: Source,
  stored: TakeResult,
  dispatched: DispatchedDelivery | undefined,
): DecidedDelivery {
  const { delivery, leadId } = checked;
  if (stored.kind === 'rejected') return { delivery, source, checked, verdict: stored };
  const verdict = { kind: dispatched?.kind ?? stored.kind, leadId };
  return { delivery, source, checked, verdict, stored, targetResults: dispatched?.targetResults };
}
