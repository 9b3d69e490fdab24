import { messageOf } from '../errors.ts';
import { isErased } from '../inbox/decide-verdict.ts';
import { remainingDelivery } from '../inbox/erase/remaining-delivery.ts';
import { type Arrival, CannotStoreError, type Inbox, type Source, type TakeResult } from '../inbox/inbox.ts';
import type { Messages } from '../output/messages.ts';
import type { Clock } from '../time/clock.ts';
import {
  checkDelivery,
  type CheckedDelivery,
  type CheckedLead,
  nonceKey,
  type Policy,
} from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import {
  answerForLeads,
  answerForOutcome,
  type DeliveryAnswer,
  type Rejection,
  rejection,
} from '../webhook/rejection.ts';
import type { Dispatcher, PendingLead } from './dispatcher.ts';
import type { ExplainRejection } from './explain-rejection.ts';
import type { HostGuard } from './host-guard.ts';
import type { AnsweredDelivery, EventStream, ReceiverObserver } from './receiver-events.ts';
import type { SimulatedFailures } from './simulated-failures.ts';
import type { TargetResult } from './targets/target.ts';

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

/** A lead that the inbox has taken. */
interface StoredLead {
  readonly lead: CheckedLead;
  readonly stored: Exclude<TakeResult, Rejection>;
}

interface DeliveryStoreOptions {
  readonly inbox: Pick<Inbox, 'take' | 'reject'>;
  readonly policy: Policy;
  readonly messages: Pick<Messages, 'note'>;
  readonly observer: ReceiverObserver | undefined;
}

/** The step from checked to stored: dedupes and keeps deliveries in the inbox. */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
  }

  /** Durable, all leads or none, when it resolves. Rejects with a `CannotStoreError` when the inbox cannot write. */
  async store(checked: CheckedDelivery, source: Source): Promise<readonly StoredLead[] | Rejection> {
    const { policy } = this.#options;
    const { delivery, leads } = checked;
    const nonce = checked.nonce === undefined ? undefined : nonceKey(policy.scheme.name, checked.nonce);
    const arrivals = leads.map(({ leadId, place }) => ({ delivery, leadId, place, source, nonce }));
    const taken = await this.#take(arrivals);
    const stored: StoredLead[] = [];
    for (const [i, lead] of leads.entries()) {
      const result = taken[i];
      if (result === undefined) throw new Error('the inbox returned no result for a lead');
      // A replay is one of the whole delivery.
      if (result.kind === 'rejected') return result;
      stored.push({ lead, stored: result });
    }
    return stored;
  }

  #take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    const { inbox, observer } = this.#options;
    return observer === undefined ? inbox.take(arrivals) : observedTake(inbox, arrivals, observer);
  }

  /** Keeps a rejected delivery without waiting for it: its answer does not depend on that. */
  keepRejected(delivery: Delivery, rejection: Rejection, leadId: string | undefined): void {
    const { inbox, messages } = this.#options;
    inbox.reject([{ delivery, rejection, leadId }]).catch((error: unknown) => {
      messages.note('reject', `${messageOf(error)}; rejected deliveries are not kept`);
    });
  }
}

async function observedTake(
  inbox: Pick<Inbox, 'take'>,
  arrivals: readonly Arrival[],
  observer: ReceiverObserver,
): Promise<readonly TakeResult[]> {
  const startedAt = observer.now();
  try {
    const taken = await inbox.take(arrivals);
    observer.stored(observer.now() - startedAt);
    return taken;
  } catch (error) {
    observer.notStored();
    throw error;
  }
}

/** A lead whose verdict is made. */
interface DecidedLead extends StoredLead {
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
