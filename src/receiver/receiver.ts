import { messageOf } from '../errors.ts';
import { CannotStoreError } from '../inbox/errors.ts';
import type { Arrival, Inbox, Source, TakeResult } from '../inbox/inbox.ts';
import { readCreatedAt } from '../lead/raw-lead.ts';
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
import { DeliveryForwards, type DeliveryWorker } from './delivery-forwards.ts';
import type { HostGuard } from './host-guard.ts';
import type { ReceiverNote } from './errors.ts';
import {
  type AnsweredDelivery,
  answeredDelivery,
  type Outcome,
  type StoredLead,
  type ReceiverObserver,
} from './receiver-events.ts';

export interface ReceiverOptions {
  /**
   * Decides who may deliver. `used` is called with the index of the key of each authentic delivery; `replaced` counts how often
   * the keys were replaced.
   */
  readonly verifier: Verifier & { used?(key: number): void; readonly replaced?: number };
  /** The path that is served, and where the leads are in a body. */
  readonly place: Omit<Policy, keyof Verifier>;
  readonly otherEvents: OtherEvents;
  /** Asked first of each delivery; default: any host is taken. */
  readonly hostGuard?: HostGuard | undefined;
  /** Opened with the options that `inboxRequirements` gives for the same verifier and targets. */
  readonly inbox: Pick<Inbox, 'take' | 'reject'>;
  /** There is one for each target. */
  readonly workers?: readonly DeliveryWorker[] | undefined;
  readonly clock: Clock;
  readonly note: (note: ReceiverNote) => void;
  /**
   * Called once for each lead of a delivery, and for each rejected delivery, when its answer is known. The delivery is answered
   * when the promise that it may return has resolved, and fails where it throws, so that its sender sends it again.
   */
  readonly onAnswered: (event: AnsweredDelivery) => Promise<void> | void;
  /** Failures on purpose, for tests of a sender. */
  readonly failures?: DeliberateFailures | undefined;
  /** Gives what the credential of a rejected delivery would have matched, one sentence each. */
  readonly explain?: ((delivery: Delivery, rejection: Rejection) => readonly string[]) | undefined;
  readonly observer?: ReceiverObserver | undefined;
}

interface DeliberateFailures {
  /** The answer that replaces taking the leads of a delivery; undefined to take them. */
  failureFor(leadIds: readonly string[]): Rejection | undefined;
  /** The status of an answer, which may be another one. */
  statusFor(status: number): number;
  /** Ends before an answer is sent; undefined when there is nothing to wait for. */
  wait(): Promise<void> | undefined;
}

/** Takes deliveries from any source: it knows nothing of sockets. */
export type Receiver = ReturnType<typeof createReceiver>;

/**
 * The contract's order of work for a delivery, from top to bottom: it is checked, its leads are stored in one transaction
 * together with what they are to be forwarded to, and it is answered. A 200 means stored. What the targets make of a lead
 * concerns the workers alone. Inbox and workers stay the caller's to close.
 */
export function createReceiver(options: ReceiverOptions) {
  const { verifier, place, hostGuard, otherEvents, inbox, workers = [], onAnswered } = options;
  const { clock, note, failures, explain, observer } = options;
  const policy = { ...place, scheme: verifier.scheme, keys: verifier.keys };
  let inFlight = 0;
  let onIdle: (() => void) | undefined;

  function receive(delivery: Delivery): Promise<DeliveryAnswer> {
    const foreign = hostGuard?.(delivery);
    if (foreign !== undefined) return reject(delivery, foreign);
    // They may have been replaced.
    policy.keys = verifier.keys;
    const checked = checkDelivery(delivery, policy, clock.now(), otherEvents);
    if (checked.kind === 'rejected') return reject(delivery, checked);
    if (checked.kind === 'other') return keepOther(delivery, checked);
    const failure = failures?.failureFor(checked.leads.map(({ leadId }) => leadId));
    return failure === undefined ? store(checked, 'push') : fail(checked, failure);
  }

  /** Stores the leads of a delivery, gives the new ones to the workers, and answers. */
  async function store(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> {
    const { delivery, key } = checked;
    // The first secret is the current one. Another can only be removed when no sender uses it any more.
    if (key >= 0) verifier.used?.(key);
    if (key > 0) {
      const message = `deliveries still use secret ${key + 1} of ${policy.keys.length}`;
      note({ kind: 'former-secret-used', message, cause: `${verifier.replaced ?? 0} ${key}` });
    }
    const from = source === 'push' ? checked : { ...checked, source };
    const forwards = workers.length === 0 ? undefined : new DeliveryForwards(from, workers, clock.steady());
    let leads: readonly StoredLead[] | Rejection;
    try {
      const arrivals = arrivalsOf(checked, source, forwards);
      leads = storedLeads(checked, await (observer === undefined ? inbox.take(arrivals) : take(arrivals)));
    } catch (error) {
      if (!(error instanceof CannotStoreError)) {
        forwards?.forwardOrWake([]);
        throw error;
      }
      leads = rejection('cannot_store', messageOf(error));
    }
    forwards?.forwardOrWake('kind' in leads ? [] : leads);
    if ('kind' in leads) return answer({ delivery, source, verdict: leads, leadId: onlyIdOf(checked) });
    const delay = failures?.wait();
    if (delay !== undefined) await delay;
    const { status, body } = answerForLeads(leads.map(({ verdict }) => verdict));
    const shownStatus = failures?.statusFor(status) ?? status;
    for (let i = 0; i < leads.length; i += 1) {
      const position = leads.length === 1 ? undefined : { number: i + 1, of: leads.length };
      const outcome = { delivery, source, status: shownStatus, position };
      const room = onAnswered(answeredDelivery(outcome, leads[i], clock.now()));
      if (room !== undefined) await room;
    }
    return { status: shownStatus, body };
  }

  function arrivalsOf(
    { delivery, leads, nonce: sentNonce }: CheckedDelivery,
    source: Source,
    forwards: DeliveryForwards | undefined,
  ): Arrival[] {
    const nonce = sentNonce === undefined ? undefined : nonceKey(policy.scheme.name, sentNonce);
    return leads.map((lead) => {
      const { leadId, place: leadPlace } = lead;
      const createdAt = readCreatedAt(lead.lead.createdAt);
      const arrival = { delivery, leadId, place: leadPlace, createdAt, source, nonce };
      if (forwards === undefined) return arrival;
      const targets = forwards.targetsOf(lead);
      if (targets.length === 0) {
        const message = `the lead '${leadId}' meets the condition of no target: it is stored and forwarded to none, and so are others like it`;
        note({ kind: 'lead-for-no-target', message });
      }
      return { ...arrival, targets, claimed: forwards.claimedFor(lead) };
    });
  }

  /** Tells the observer how long it took. */
  async function take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    const startedAt = observer?.now() ?? 0;
    try {
      const results = await inbox.take(arrivals);
      observer?.stored(observer.now() - startedAt);
      return results;
    } catch (error) {
      observer?.notStored();
      throw error;
    }
  }

  /** Keeps the delivery, without waiting for it, for those who look into the inbox. */
  function reject(delivery: Delivery, verdict: Rejection, leadId?: string): Promise<DeliveryAnswer> {
    inbox.reject([{ delivery, rejection: verdict, leadId }]).catch((error: unknown) => {
      note({
        kind: 'rejected-not-kept',
        message: `${messageOf(error)}; rejected deliveries are not kept`,
      });
    });
    return answer({ delivery, source: 'push', verdict, leadId, explanation: explain?.(delivery, verdict) });
  }

  /** Another event is kept first; a handshake brings nothing. */
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

  async function fail(checked: CheckedDelivery, failure: Rejection): Promise<DeliveryAnswer> {
    await failures?.wait();
    return reject(checked.delivery, failure, onlyIdOf(checked));
  }

  /** Answers a delivery of which no lead was stored. */
  async function answer(
    outcome: Omit<Outcome, 'status'> & { readonly verdict: Rejection | OtherDelivery },
  ): Promise<DeliveryAnswer> {
    const { verdict } = outcome;
    await onAnswered(answeredDelivery({ ...outcome, status: verdict.status }, undefined, clock.now()));
    return verdict.kind === 'other' ? verdict.answer : answerForOutcome(verdict);
  }

  /** `startedAt`: of what came from outside, which the observer measures. */
  async function tracked(answered: Promise<DeliveryAnswer>, startedAt?: number): Promise<DeliveryAnswer> {
    inFlight += 1;
    try {
      return await answered;
    } finally {
      inFlight -= 1;
      if (inFlight === 0) onIdle?.();
      if (startedAt !== undefined) observer?.answered(observer.now() - startedAt);
    }
  }

  return {
    /** Gives what can be rejected before the body is complete. */
    checkHead: (head: Delivery): Rejection | undefined =>
      hostGuard?.(head) ?? checkHead(head, { ...place, scheme: verifier.scheme, keys: verifier.keys }),
    /** Takes one delivery to its answer. */
    handle: (delivery: Delivery): Promise<DeliveryAnswer> => {
      const startedAt = observer?.now();
      return tracked(receive(delivery), startedAt);
    },
    /** Stores a delivery that needs no check, such as a lead that was pulled from the service. */
    handleChecked: (checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer> =>
      tracked(store(checked, source)),
    /** Keeps a request that was rejected before it became a delivery. */
    handleRejected: (delivery: Delivery, verdict: Rejection): Promise<DeliveryAnswer> =>
      tracked(reject(delivery, verdict), observer?.now()),
    /** Resolves when no delivery is without its answer. */
    idle: (): Promise<void> =>
      inFlight === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve)),
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
