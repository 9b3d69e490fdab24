import { type Arrival, CannotStoreError, type Source, type TakeResult } from '../inbox/inbox.ts';
import { readCreatedAt } from '../lead/raw-lead.ts';
import {
  answerHandshake,
  answerOtherEvent,
  checkDelivery,
  type CheckedDelivery,
  checkHead,
  nonceKey,
  type OtherDeliveries,
} from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import {
  answerForLeads,
  answerForOutcome,
  type DeliveryAnswer,
  type OtherDelivery,
  type Rejection,
  rejection,
} from '../webhook/delivery-answer.ts';
import { deliveryRedactor } from './credentials.ts';
import { DeliveryForwards, type StoredLead } from './delivery-forwards.ts';
import { InFlightCount } from './in-flight-count.ts';
import type { Receiver, ReceiverOptions } from './receiver.ts';
import { type AnsweredDelivery, EventStream } from './receiver-events.ts';

/** The part of an event that all leads of a delivery share. */
interface Outcome {
  readonly delivery: Delivery;
  readonly source: Source;
  readonly status: number;
  readonly verdict?: Rejection | OtherDelivery | undefined;
  readonly leadId?: string | undefined;
  readonly explanation?: readonly string[] | undefined;
}

/**
 * The contract's order of work for a delivery, from top to bottom: it is checked, its leads are stored in one transaction
 * together with what they are to be forwarded to, and it is answered. A 200 means stored. What the targets make of a lead
 * concerns the workers alone. Inbox and workers stay the caller's to close.
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { policy, hostGuard, otherEvents, inbox, workers = [], clock, note, sentenceOf } = options;
  const { onKey, failures, explain, observer } = options;
  const others: OtherDeliveries = {
    handshake: answerHandshake,
    withoutLead: (json, detail, isOtherKind) =>
      otherEvents && answerOtherEvent(json, detail, isOtherKind, otherEvents),
  };
  const events = new EventStream<AnsweredDelivery>();
  const inFlight = new InFlightCount();
  const redactor = deliveryRedactor(policy);

  function handle(delivery: Delivery): Promise<DeliveryAnswer> {
    const foreign = hostGuard?.(delivery);
    if (foreign !== undefined) return handleRejected(delivery, foreign);
    const checked = checkDelivery(delivery, policy, clock.now(), others);
    if (checked.kind === 'rejected') return handleRejected(delivery, checked);
    if (checked.kind === 'other') return handleOther(delivery, checked);
    const failure = failures?.failureFor(checked.leads.map(({ leadId }) => leadId));
    return failure === undefined ? handleChecked(checked, 'push') : fail(checked, failure);
  }

  async function handleChecked(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> {
    const { delivery, key } = checked;
    // The first secret is the current one. Another can only be removed when no sender uses it any more.
    if (key >= 0) onKey?.(key);
    if (key > 0) note({ kind: 'former-secret-used', number: key + 1, secrets: policy.keys.length });
    const from = source === 'push' ? checked : { ...checked, source };
    const forwards = workers.length === 0 ? undefined : new DeliveryForwards(from, workers, clock.steady());
    let leads: readonly StoredLead[] | Rejection;
    try {
      leads = storedLeads(checked, await take(arrivalsOf(checked, source, forwards)));
    } catch (error) {
      forwards?.forwardOrWake([]);
      if (!(error instanceof CannotStoreError)) throw error;
      const verdict = rejection('cannot_store', sentenceOf(error));
      return answerUntaken({ delivery, source, status: verdict.status, verdict, leadId: onlyIdOf(checked) });
    }
    forwards?.forwardOrWake('kind' in leads ? [] : leads);
    if ('kind' in leads) {
      return answerUntaken({
        delivery,
        source,
        status: leads.status,
        verdict: leads,
        leadId: onlyIdOf(checked),
      });
    }
    const delay = failures?.wait();
    if (delay !== undefined) await delay;
    const ordinary = answerForLeads(leads.map(({ verdict }) => verdict));
    const answer =
      failures === undefined ? ordinary : { ...ordinary, status: failures.statusFor(ordinary.status) };
    const room = emitEach({ delivery, source, status: answer.status }, leads);
    if (room !== undefined) await room;
    return answer;
  }

  function arrivalsOf(
    { delivery, leads, nonce: sent }: CheckedDelivery,
    source: Source,
    forwards: DeliveryForwards | undefined,
  ): Arrival[] {
    const nonce = sent === undefined ? undefined : nonceKey(policy.scheme.name, sent);
    return leads.map((lead) => {
      const { leadId, place } = lead;
      const createdAt = readCreatedAt(lead.lead.createdAt);
      const arrival = { delivery, leadId, place, createdAt, source, nonce };
      if (forwards === undefined) return arrival;
      const targets = forwards.targetsOf(lead);
      if (targets.length === 0) note({ kind: 'lead-for-no-target', leadId });
      return { ...arrival, targets, claimed: forwards.claimedFor(lead) };
    });
  }

  async function take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    if (observer === undefined) return inbox.take(arrivals);
    const startedAt = observer.now();
    try {
      const results = await inbox.take(arrivals);
      observer.stored(observer.now() - startedAt);
      return results;
    } catch (error) {
      observer.notStored();
      throw error;
    }
  }

  /** Keeps the delivery, without waiting for it, for those who look into the inbox. */
  function handleRejected(delivery: Delivery, verdict: Rejection, leadId?: string): Promise<DeliveryAnswer> {
    inbox.reject([{ delivery, rejection: verdict, leadId }]).catch((error: unknown) => {
      note({ kind: 'rejected-not-kept', why: sentenceOf(error) });
    });
    const explanation = explain?.(delivery, verdict);
    return answerUntaken({ delivery, source: 'push', status: verdict.status, verdict, leadId, explanation });
  }

  /** Another event is kept first; a handshake brings nothing. */
  async function handleOther(delivery: Delivery, verdict: OtherDelivery): Promise<DeliveryAnswer> {
    try {
      if (verdict.reason === 'other_event') await inbox.reject([{ delivery, rejection: verdict }]);
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      const failed = rejection('cannot_store', sentenceOf(error));
      return answerUntaken({ delivery, source: 'push', status: failed.status, verdict: failed });
    }
    return answerUntaken({ delivery, source: 'push', status: verdict.status, verdict });
  }

  async function fail(checked: CheckedDelivery, failure: Rejection): Promise<DeliveryAnswer> {
    await failures?.wait();
    return handleRejected(checked.delivery, failure, onlyIdOf(checked));
  }

  async function answerUntaken(
    outcome: Outcome & { readonly verdict: Rejection | OtherDelivery },
  ): Promise<DeliveryAnswer> {
    const { verdict } = outcome;
    const answer = verdict.kind === 'other' ? verdict.answer : answerForOutcome(verdict);
    const room = events.emit(eventOf(outcome));
    if (room !== undefined) await room;
    return answer;
  }

  /** Undefined where the listeners have room for all of them at once. */
  function emitEach(outcome: Outcome, leads: readonly StoredLead[], from = 0): Promise<unknown> | undefined {
    for (let i = from; i < leads.length; i += 1) {
      const position = leads.length === 1 ? undefined : { number: i + 1, of: leads.length };
      const room = events.emit(eventOf(outcome, leads[i], position));
      if (room !== undefined) return room.then(() => emitEach(outcome, leads, i + 1));
    }
    return undefined;
  }

  /** Written out, since copying parts into it would cost more than all else of the answer. */
  function eventOf(
    { delivery, source, status, verdict, leadId, explanation }: Outcome,
    one?: StoredLead,
    position?: AnsweredDelivery['position'],
  ): AnsweredDelivery {
    return {
      delivery,
      receivedAt: delivery.receivedAt,
      verdict: one?.verdict.kind ?? verdict?.kind ?? 'rejected',
      status,
      durationMs: Math.max(0, clock.now() - delivery.receivedAt),
      remote: delivery.remote,
      method: delivery.method,
      path: redactor.path(delivery),
      source,
      reason: verdict?.reason,
      detail: verdict?.detail,
      leadId: one?.lead.leadId ?? leadId,
      position,
      attempt: one?.verdict.attempt,
      firstAt: one?.verdict.firstAt,
      lead: one === undefined || one.verdict.isErased === true ? undefined : one.lead.lead.bytes,
      differs: one?.verdict.differs,
      pointer: one?.lead.pointer,
      warnings: one?.lead.warnings,
      explanation,
    };
  }

  /** For what came from outside only. */
  const timed = async (work: () => Promise<DeliveryAnswer>): Promise<DeliveryAnswer> => {
    const startedAt = observer?.now() ?? 0;
    inFlight.begin();
    try {
      return await work();
    } finally {
      inFlight.end();
      observer?.answered(observer.now() - startedAt);
    }
  };
  return {
    checkHead: (head) => hostGuard?.(head) ?? checkHead(head, policy),
    handle: (delivery) => timed(() => handle(delivery)),
    handleChecked: (checked, source) => inFlight.run(() => handleChecked(checked, source)),
    handleRejected: (delivery, verdict) => timed(() => handleRejected(delivery, verdict)),
    events,
    idle: () => inFlight.idle(),
  };
}

/** A delivery of several leads has no id of its own. */
const onlyIdOf = ({ leads }: CheckedDelivery): string | undefined =>
  leads.length === 1 ? leads[0]?.leadId : undefined;

/** A replay is one of the whole delivery. */
function storedLeads(
  { leads }: CheckedDelivery,
  results: readonly TakeResult[],
): readonly StoredLead[] | Rejection {
  const stored: StoredLead[] = [];
  for (const lead of leads) {
    const verdict = results[stored.length];
    if (verdict === undefined) throw new Error('the inbox returned no result for a lead');
    if (verdict.kind === 'rejected') return verdict;
    stored.push({ lead, verdict });
  }
  return stored;
}
