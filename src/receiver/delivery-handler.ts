import { isErased } from '../inbox/decide-verdict.ts';
import type { Source } from '../inbox/inbox.ts';
import { CannotStoreError } from '../inbox/cannot-store-error.ts';
import { remainingDelivery } from '../inbox/erase/remaining-delivery.ts';
import type { Messages } from '../output/messages.ts';
import type { Clock } from '../time/clock.ts';
import type { DeliveryAnswer } from '../webhook/delivery-answer.ts';
import { checkDelivery, type CheckedDelivery, type Policy } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { type Rejection, rejection } from '../webhook/rejection.ts';
import type { DecidedLead, DeliveryAnswerer } from './delivery-answerer.ts';
import type { DeliveryStore, StoredLead } from './delivery-store.ts';
import type { Dispatcher, PendingLead } from './dispatcher.ts';
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
 * (`CheckedDelivery`), stored (`StoredLead`), dispatched (`DecidedLead`), answered (`AnsweredDelivery`), the last three for
 * each lead in it. A rejection leads from any of them to answered.
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
    const failure = failures?.failureFor(checked.leads.map(({ leadId }) => leadId));
    if (failure === undefined) return this.handleChecked(checked, 'push');
    await failures?.wait();
    return this.handleRejected(delivery, failure, onlyIdOf(checked));
  }

  /** From checked to answered. */
  handleChecked(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> {
    this.#noteOldSecret(checked);
    return this.#answer(checked, source, () => this.#options.store.store(checked, source));
  }

  /** From stored to answered, of leads that were pending: the caller leased the targets that have not had them. */
  handleLeased(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
    source: Source,
  ): Promise<DeliveryAnswer> {
    return this.#answer(checked, source, () => Promise.resolve(leads));
  }

  async #answer(
    checked: CheckedDelivery,
    source: Source,
    store: () => Promise<readonly StoredLead[] | Rejection>,
  ): Promise<DeliveryAnswer> {
    const { failures, answerer } = this.#options;
    const { delivery } = checked;
    let decided: Rejection | readonly DecidedLead[];
    try {
      const stored = await store();
      decided = 'kind' in stored ? stored : await this.#dispatch(checked, stored);
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      const verdict = rejection('cannot_store', error.message);
      return answerer.answerRejected({ delivery, source, verdict, leadId: onlyIdOf(checked) });
    }
    const delay = failures?.wait();
    if (delay !== undefined) await delay;
    if ('kind' in decided) {
      return answerer.answerRejected({ delivery, source, verdict: decided, leadId: onlyIdOf(checked) });
    }
    return answerer.answer({ delivery, source, leads: decided });
  }

  /** From rejected to answered: keeps the delivery for those who look into the inbox. */
  handleRejected(delivery: Delivery, verdict: Rejection, leadId?: string): Promise<DeliveryAnswer> {
    const { store, explain, answerer } = this.#options;
    store.keepRejected(delivery, verdict, leadId);
    const explanation = explain?.(delivery, verdict);
    return answerer.answerRejected({ delivery, source: 'push', verdict, leadId, explanation });
  }

  /** From stored to dispatched. */
  async #dispatch(checked: CheckedDelivery, stored: readonly StoredLead[]): Promise<readonly DecidedLead[]> {
    const pending = stored.filter(isPending);
    const dispatched =
      pending.length === 0
        ? []
        : await this.#options.dispatcher.dispatch(withoutErased(checked, stored), pending);
    let next = 0;
    return stored.map(({ lead, stored: taken }) => {
      const after = taken.kind === 'pending' ? dispatched[next++] : undefined;
      return { lead, stored: taken, kind: after?.kind ?? taken.kind, targetResults: after?.targetResults };
    });
  }

  /** The first secret is the current one. Another can only be removed when no sender uses it any more. */
  #noteOldSecret({ key }: CheckedDelivery): void {
    if (key < 1) return;
    const { messages, policy } = this.#options;
    messages.note('rotation', `deliveries still use secret ${key + 1} of ${policy.keys.length}`);
  }
}

/** A delivery of several leads has no id of its own. */
const onlyIdOf = ({ leads }: CheckedDelivery): string | undefined =>
  leads.length === 1 ? leads[0]?.leadId : undefined;

/** What the targets may get: the whole delivery, unless a lead in it was erased. */
function withoutErased(checked: CheckedDelivery, stored: readonly StoredLead[]): CheckedDelivery {
  const others = stored.filter((one) => !isErased(one.stored));
  if (others.length === stored.length) return checked;
  const leads = others.map(({ lead }) => lead);
  const places = leads.flatMap(({ place }) => place ?? []);
  return { ...checked, leads, delivery: remainingDelivery(checked.delivery, places) };
}

const isPending = (one: StoredLead): one is PendingLead => one.stored.kind === 'pending';
