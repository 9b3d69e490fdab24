import { messageOf } from '../errors.ts';
import { CannotStoreError } from '../inbox/errors.ts';
import type { Arrival, Inbox, Source, TakeResult } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import {
  checkDelivery,
  type CheckedDelivery,
  checkHead,
  nonceKey,
  type OtherEvents,
  type Policy,
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
import type { Verifier } from '../webhook/scheme.ts';
import { deliveryRedactor } from './credentials.ts';
import { claimMsFor, DeliveryForwards, type DeliveryWorker } from './forward-worker.ts';
import type { HostGuard } from './host-guard.ts';
import { formerSecretUsed, leadForNoTarget, type ReceiverNote, rejectedNotKept } from './errors.ts';
import type { AnsweredDelivery, StoredLead } from './receiver-events.ts';
import type { ReceiverMetrics } from './receiver-metrics.ts';
import type { Target } from './targets/target.ts';

export interface ReceiverOptions {
  /** Decides who may deliver. Its keys may be replaced at any time; `replaced` counts how often that was done. */
  readonly verifier: Verifier & { readonly replaced?: number };
  /** The path that is served, and where the leads are in a body. */
  readonly place: Omit<Policy, keyof Verifier>;
  readonly otherEvents: OtherEvents;
  readonly hostGuard?: HostGuard | undefined;
  /** Opened with the options that `inboxRequirements` gives for the same verifier and targets. */
  readonly inbox: Pick<Inbox, 'take' | 'reject'>;
  readonly workers?: readonly DeliveryWorker[] | undefined;
  readonly clock: Clock;
  readonly note: (note: ReceiverNote) => void;
  /**
   * Called once for each lead of a delivery, and for each rejected delivery, when its answer is known. The delivery is answered
   * when the promise that it may return has resolved, and fails where it throws, so that its sender sends it again.
   */
  readonly onAnswered: (event: AnsweredDelivery) => Promise<void> | void;
  readonly failures?: DeliberateFailures | undefined;
  /** Gives what the credential of a rejected delivery would have matched, one sentence each. */
  readonly explain?: ((delivery: Delivery, rejection: Rejection) => readonly string[]) | undefined;
  readonly metrics?: Pick<ReceiverMetrics, 'answered' | 'failed'> | undefined;
}

interface UnstoredDelivery extends Pick<AnsweredDelivery, 'delivery' | 'source' | 'leadId' | 'explanation'> {
  readonly verdict: Rejection | OtherDelivery;
}

/**
 * Failures that the operator asked for, to see what a sender does: `failureFor` gives the answer that replaces storing the leads,
 * if any, `statusFor` the status that is sent in place of the right one, and `wait` resolves when the answer may be sent.
 */
interface DeliberateFailures {
  failureFor(leadIds: readonly string[]): Rejection | undefined;
  statusFor(status: number): number;
  wait(): Promise<void> | undefined;
}

export type Receiver = ReturnType<typeof createReceiver>;

/**
 * Receives deliveries, each in this order: `receive` checks it, `store` stores its leads in one transaction together with the
 * targets that they go to, starts forwarding them, and answers. A 200 means stored: whether a target takes a lead concerns the
 * workers alone. The caller closes the inbox and the workers.
 */
export function createReceiver(options: ReceiverOptions) {
  const { verifier, place, hostGuard, otherEvents, inbox, workers = [], onAnswered } = options;
  const { clock, note, failures, explain, metrics } = options;
  const policyNow = (): Policy => ({ ...place, scheme: verifier.scheme, keys: verifier.keys });
  let inFlight = 0;
  let onIdle: (() => void) | undefined;

  function receive(delivery: Delivery): Promise<DeliveryAnswer> {
    const foreign = hostGuard?.(delivery);
    if (foreign !== undefined) return reject(delivery, foreign);
    const checked = checkDelivery(delivery, policyNow(), clock.now(), otherEvents);
    if (checked.kind === 'rejected') return reject(delivery, checked);
    if (checked.kind === 'other') return keepOther(delivery, checked);
    const failure = failures?.failureFor(checked.leads.map(({ leadId }) => leadId));
    return failure === undefined ? store(checked, 'push') : failOnPurpose(checked, failure);
  }

  async function store(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> {
    const { delivery, key } = checked;
    // The first secret is the current one. Another can only be removed when no sender uses it any more.
    if (key > 0) note(formerSecretUsed(key + 1, verifier.keys.length, verifier.replaced));
    const outcome = await storeAndForward(checked, source);
    if ('reason' in outcome) {
      return answer({ delivery, source, verdict: outcome, leadId: onlyIdOf(checked) });
    }
    const delay = failures?.wait();
    if (delay !== undefined) await delay;
    return answerStored(delivery, source, outcome);
  }

  /** The rejection says that the inbox stored none of the leads: it cannot now, or the delivery is a replay. */
  async function storeAndForward(checked: CheckedDelivery, source: Source) {
    const sent = source === 'push' ? checked : { ...checked, source };
    const forwards = workers.length === 0 ? undefined : new DeliveryForwards(sent, workers, clock.steady());
    let stored: readonly StoredLead[] = [];
    try {
      const outcome = storedLeads(checked, await inbox.take(arrivalsOf(checked, source, forwards)));
      if (!('reason' in outcome)) stored = outcome;
      return outcome;
    } catch (error) {
      metrics?.failed('store');
      if (error instanceof CannotStoreError) return rejection('cannot_store', messageOf(error));
      throw error;
    } finally {
      forwards?.forwardOrWake(stored);
    }
  }

  async function answerStored(delivery: Delivery, source: Source, leads: readonly StoredLead[]) {
    const { status, body } = answerForLeads(leads.map(({ verdict }) => verdict));
    const shownStatus = failures?.statusFor(status) ?? status;
    let number = 0;
    for (const { lead, verdict } of leads) {
      number += 1;
      // Written out, since copying parts into it would cost more than all else of the answer.
      const reported = onAnswered({
        delivery,
        source,
        status: shownStatus,
        verdict: verdict.kind,
        durationMs: durationOf(delivery),
        position: leads.length === 1 ? undefined : { number, of: leads.length },
        leadId: lead.leadId,
        attempt: verdict.attempt,
        firstAt: verdict.firstAt,
        lead: verdict.isErased === true ? undefined : lead.lead.bytes,
        differs: verdict.differs,
        pointer: lead.pointer,
        warnings: lead.warnings,
      });
      if (reported !== undefined) await reported;
    }
    return { status: shownStatus, body };
  }

  function arrivalsOf(checked: CheckedDelivery, source: Source, forwards?: DeliveryForwards): Arrival[] {
    const { delivery, leads, nonce: sentNonce } = checked;
    const nonce = sentNonce === undefined ? undefined : nonceKey(verifier.scheme.name, sentNonce);
    return leads.map((lead) => {
      const { leadId, place: leadPlace } = lead;
      const arrival = { delivery, leadId, place: leadPlace, source, nonce };
      if (forwards === undefined) return arrival;
      const { targets, claimed } = forwards.targetsOf(lead);
      if (targets?.length === 0) note(leadForNoTarget(leadId));
      return { ...arrival, targets, claimed };
    });
  }

  /** Keeps the delivery for those who look into the inbox. The answer does not wait for that. */
  function reject(delivery: Delivery, verdict: Rejection, leadId?: string): Promise<DeliveryAnswer> {
    inbox
      .reject([{ delivery, rejection: verdict, leadId }])
      .catch((error: unknown) => note(rejectedNotKept(error)));
    return answer({ delivery, source: 'push', verdict, leadId, explanation: explain?.(delivery, verdict) });
  }

  /** The 200 promises that another event is kept. A handshake holds nothing to keep. */
  async function keepOther(delivery: Delivery, event: OtherDelivery): Promise<DeliveryAnswer> {
    let verdict: OtherDelivery | Rejection = event;
    try {
      if (event.reason === 'other_event') await inbox.reject([{ delivery, rejection: event }]);
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      verdict = rejection('cannot_store', messageOf(error));
    }
    return answer({ delivery, source: 'push', verdict });
  }

  async function failOnPurpose(checked: CheckedDelivery, failure: Rejection): Promise<DeliveryAnswer> {
    await failures?.wait();
    return reject(checked.delivery, failure, onlyIdOf(checked));
  }

  async function answer(unstored: UnstoredDelivery): Promise<DeliveryAnswer> {
    const { delivery, source, verdict, leadId, explanation } = unstored;
    const { kind, status, reason, detail } = verdict;
    const durationMs = durationOf(delivery);
    const answered = { delivery, source, verdict: kind, status, durationMs, reason, detail };
    await onAnswered({ ...answered, leadId, explanation });
    return verdict.kind === 'other' ? verdict.answer : answerForOutcome(verdict);
  }

  const durationOf = ({ receivedAt }: Delivery): number => Math.max(0, clock.now() - receivedAt);

  /** Counts what is in flight. `startedAt`: measures the time to the answer, which only a client on the network waits for. */
  async function tracked(answered: Promise<DeliveryAnswer>, startedAt?: number): Promise<DeliveryAnswer> {
    inFlight += 1;
    try {
      return await answered;
    } finally {
      inFlight -= 1;
      if (inFlight === 0) onIdle?.();
      if (startedAt !== undefined) metrics?.answered(clock.steady() - startedAt);
    }
  }

  return {
    checkHead: (head: Delivery): Rejection | undefined => hostGuard?.(head) ?? checkHead(head, policyNow()),
    handle: (delivery: Delivery): Promise<DeliveryAnswer> => {
      const startedAt = clock.steady();
      return tracked(receive(delivery), startedAt);
    },
    /** Stores a delivery that needs no check, such as a lead that was pulled from the service. */
    handleChecked: (checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> =>
      tracked(store(checked, source)),
    /** Keeps a request that was rejected before it became a delivery. */
    handleRejected: (delivery: Delivery, verdict: Rejection): Promise<DeliveryAnswer> =>
      tracked(reject(delivery, verdict), clock.steady()),
    idle: (): Promise<void> =>
      inFlight === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve)),
  };
}

/** A delivery of several leads has no id of its own. */
const onlyIdOf = ({ leads }: CheckedDelivery): string | undefined =>
  leads.length === 1 ? leads[0]?.leadId : undefined;

/** Pairs leads with the verdicts on them. The leads of a delivery share its nonce: where one is a replay, all are. */
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

/**
 * A delivery without a signed time could be replayed at any later time: its nonce is remembered for a month. A tolerance may be
 * unlimited, and a store can count the milliseconds of a hundred years.
 */
const timelessNonceMs = 30 * 86_400_000;
const longestNonceMs = 100 * 365 * 86_400_000;

/** The options of an inbox that depend on its receiver. `attemptMs`: the longest time that an attempt at a target may take. */
export function inboxRequirements(
  verifier: Verifier,
  targets: readonly Pick<Target, 'name'>[],
  attemptMs: number,
) {
  const { toleranceMs } = verifier.scheme;
  // A delivery is accepted from one tolerance before to one tolerance after its time; a second more, since that time may be in whole seconds.
  const nonceMs = toleranceMs === undefined ? timelessNonceMs : Math.ceil(2 * toleranceMs) + 1000;
  return {
    targets: targets.map((target) => target.name),
    claimMs: claimMsFor(attemptMs),
    nonceLifetimeMs: Math.min(nonceMs, longestNonceMs),
    redact: deliveryRedactor(verifier),
  };
}
