import { isErased } from '../inbox/decide-verdict.ts';
import { type Arrival, CannotStoreError, type Inbox, type Source, type TakeResult } from '../inbox/inbox.ts';
import { type RawLead, readCreatedAt } from '../lead/raw-lead.ts';
import type { Clock } from '../time/clock.ts';
import {
  checkDelivery,
  type CheckedDelivery,
  type CheckedLead,
  checkHead,
  nonceKey,
  type Policy,
  type OtherDeliveries,
  answerHandshake,
  answerOtherEvent,
  type OtherEvents,
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
import {
  type DispatchedLead,
  type LabelledResult,
  type OnTry,
  type PendingLead,
  TargetDeliverer,
  withoutErased,
} from './deliver-to-targets.ts';
import type { HostGuard } from './host-guard.ts';
import { InFlightCount } from './in-flight-count.ts';
import type { ReceiverNote } from './problems.ts';
import {
  type AnsweredDelivery,
  EventStream,
  type ReceiverObserver,
  type Subscribable,
} from './receiver-events.ts';
import { deliveryRedactor } from './credentials.ts';
import type { Target } from './targets/target.ts';

export interface ReceiverOptions {
  /** Who may deliver, and at which path. */
  readonly policy: Policy;
  /** Default: what is no lead is rejected. */
  readonly otherEvents?: OtherEvents | undefined;
  /** Asked first of each delivery; default: any host is taken. */
  readonly hostGuard?: HostGuard | undefined;
  /** Opened with the options that `inboxRequirements` gives for the same policy and targets. */
  readonly inbox: Pick<Inbox, 'take' | 'reject' | 'settle' | 'release' | 'lease' | 'states'>;
  /** What each new lead is delivered to. Default: nothing. */
  readonly targets?: readonly Target[] | undefined;
  /** What a delivery waits for before it is acknowledged: its targets (the default), or that it is stored. */
  readonly acknowledge?: 'delivered' | 'stored' | undefined;
  /** Tries the targets again for what they have not had. Default: nobody does. */
  readonly outbox?: OutboxOfReceiver | undefined;
  readonly clock: Clock;
  /** The receiver ends: no delivery waits for another one any more. */
  readonly signal?: AbortSignal | undefined;
  /** The receiver is told to end, which may be later. */
  readonly stopping?: AbortSignal | undefined;
  /** Cuts short what the targets have in flight. */
  readonly cut?: AbortSignal | undefined;
  readonly note: (found: ReceiverNote) => void;
  /** The neutral sentence of an error, for events and notes. */
  readonly sentenceOf: (error: unknown) => string;
  /** Called with the index of the key of each authentic delivery. */
  readonly onKey?: ((index: number) => void) | undefined;
  /** Failures on purpose, for tests of a sender. */
  readonly failures?: DeliberateFailures | undefined;
  /** What the credential of a rejected delivery would have matched, one sentence each. */
  readonly explain?: ((delivery: Delivery, rejection: Rejection) => readonly string[]) | undefined;
  readonly observer?: ReceiverObserver | undefined;
}

interface OutboxOfReceiver {
  readonly tried: OnTry;
  /** The target does not take new leads: they wait in the inbox until it does. */
  isAway(target: string): boolean;
  /** Something is due that nobody tries now. */
  wake(): void;
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
export interface Receiver {
  /** What can be rejected before the body is complete. */
  checkHead(head: Delivery): Rejection | undefined;
  /** Takes one delivery through the contract's order of work, to its answer. */
  handle(delivery: Delivery): Promise<DeliveryAnswer>;
  /** The same for a delivery that needs no check, such as a lead that was pulled from the service. */
  handleChecked(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer>;
  /**
   * Hands leads that the inbox holds to the targets on which it has leased them. Rejects with a `CannotStoreError` when the
   * inbox cannot write what came of it. `leasedAt`: when the leases were asked for, by the clock that goes on evenly.
   */
  handOn(checked: CheckedDelivery, leads: readonly PendingLead[], leasedAt: number): Promise<void>;
  /** Whether a lead is on its way to that target now, or to any. */
  isDispatching(leadId: string, target?: string): boolean;
  /** Of `TargetDeliverer`, for leases that somebody else asked for. */
  readonly release: TargetDeliverer['release'];
  /** Keeps, and emits, a request that was rejected before it became a delivery. */
  handleRejected(delivery: Delivery, rejection: Rejection): Promise<DeliveryAnswer>;
  /**
   * One event for each lead of a delivery, and for each rejected delivery, when its answer is known, and one whenever a lead
   * was handed on from the inbox. A delivery is answered only when the listeners have room. A listener that throws fails the delivery, so that its sender sends it
   * again.
   */
  readonly events: Subscribable<AnsweredDelivery>;
  /** Resolves when no lead is on its way whose delivery is answered already. */
  followed(): Promise<void>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

/** A lead that the inbox has taken. */
interface StoredLead {
  readonly lead: CheckedLead;
  readonly stored: Exclude<TakeResult, Rejection>;
}

/** A lead whose verdict is made. */
interface DecidedLead extends StoredLead {
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  /** What its sender is told, where that is another verdict. */
  readonly answered?: 'accepted' | 'duplicate' | undefined;
  readonly targetResults?: readonly LabelledResult[] | undefined;
  /** It was erased since it was stored. */
  readonly isErased?: true;
}

/** Without a promise where there is nothing to wait for: each costs a delivery as much as many steps of its work. */
type Answered = DeliveryAnswer | Promise<DeliveryAnswer>;

/** What an event says of a delivery that was not taken. */
interface RejectedDelivery {
  readonly verdict: Rejection | OtherDelivery;
  readonly leadId?: string | undefined;
  readonly explanation?: readonly string[] | undefined;
}

/**
 * The contract's order of work for a delivery. Its states, in order: received (`Delivery`), checked
 * (`CheckedDelivery`), stored (`StoredLead`), dispatched (`DecidedLead`), answered (`AnsweredDelivery`), the last three for
 * each lead in it. A rejection leads from any of them to answered. Inbox and targets stay the caller's to close.
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { policy, hostGuard, otherEvents, inbox, targets = [], clock, note, sentenceOf } = options;
  const { onKey, failures, explain, observer, outbox, acknowledge } = options;
  const others: OtherDeliveries = {
    handshake: answerHandshake,
    withoutLead: (json, detail, isOtherKind) =>
      otherEvents && answerOtherEvent(json, detail, isOtherKind, otherEvents),
  };
  const events = new EventStream<AnsweredDelivery>();
  const inFlight = new InFlightCount();
  const following = new InFlightCount();
  const dispatcher = new TargetDeliverer(inbox, targets, clock, {
    onTry: outbox && ((...tried) => outbox.tried(...tried)),
    signal: options.signal,
    stopping: options.stopping,
    cut: options.cut,
  });
  const isSelective = targets.some(({ takes }) => takes !== undefined);
  const { path: redactPath } = deliveryRedactor(policy);

  /** From received to answered. */
  function handle(delivery: Delivery): Answered {
    const foreign = hostGuard?.(delivery);
    if (foreign !== undefined) return handleRejected(delivery, foreign);
    const checked = checkDelivery(delivery, policy, clock.now(), others);
    if (checked.kind === 'rejected') return handleRejected(delivery, checked);
    if (checked.kind === 'other') return handleOther(delivery, checked);
    const failure = failures?.failureFor(checked.leads.map(({ leadId }) => leadId));
    if (failure === undefined) return handleChecked(checked, 'push');
    const answered = (): Answered => handleRejected(delivery, failure, onlyIdOf(checked));
    return failures?.wait()?.then(answered) ?? answered();
  }

  /** From checked to answered. */
  async function handleChecked(given: CheckedDelivery, source: Source): Promise<DeliveryAnswer> {
    const checked = source === 'push' ? given : { ...given, source };
    // The first secret is the current one. Another can only be removed when no sender uses it any more.
    if (checked.key >= 0) onKey?.(checked.key);
    if (checked.key > 0) {
      note({ kind: 'former-secret-used', number: checked.key + 1, secrets: policy.keys.length });
    }
    let decided: Rejection | readonly DecidedLead[];
    try {
      const leasedAt = clock.steady();
      // Durable, all leads or none, when it resolves. Rejects with a `CannotStoreError` when the inbox cannot write.
      const taken = storedLeads(checked, await take(arrivalsOf(checked, source)));
      if ('kind' in taken) decided = taken;
      else if (isFollowedLater(source)) decided = followLater(checked, taken, leasedAt);
      else if (taken.some(isPending)) decided = await dispatch(checked, source, taken, leasedAt);
      else decided = taken.map(decidedAsStored);
      const delay = failures?.wait();
      if (delay !== undefined) await delay;
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      decided = rejection('cannot_store', sentenceOf(error));
    }
    if ('kind' in decided) {
      return answerRejected(checked.delivery, source, { verdict: decided, leadId: onlyIdOf(checked) });
    }
    return answer(checked.delivery, source, decided);
  }

  const isFollowedLater = (source: Source): boolean => acknowledge === 'stored' && source === 'push';

  function arrivalsOf({ delivery, leads, nonce: sent }: CheckedDelivery, source: Source): Arrival[] {
    const nonce = sent === undefined ? undefined : nonceKey(policy.scheme.name, sent);
    const isAcknowledged = isFollowedLater(source);
    return leads.map(({ lead, leadId, place }) => {
      const targets = targetsOf(lead, leadId);
      const createdAt = readCreatedAt(lead.createdAt);
      return { delivery, leadId, place, createdAt, source, nonce, targets, isAcknowledged };
    });
  }

  const take = (arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> =>
    observer === undefined ? inbox.take(arrivals) : observed(() => inbox.take(arrivals), observer);

  /** Names of the targets that a lead is for; undefined: all. */
  function targetsOf(lead: RawLead, leadId: string): readonly string[] | undefined {
    if (!isSelective) return undefined;
    const names = targets.filter(({ takes }) => takes?.(lead) !== false).map(({ name }) => name);
    if (names.length === 0) note({ kind: 'lead-for-no-target', leadId });
    return names;
  }

  /** From stored to dispatched. */
  async function dispatch(
    checked: CheckedDelivery,
    source: Source,
    stored: readonly StoredLead[],
    leasedAt: number,
  ): Promise<readonly DecidedLead[]> {
    const pending = stored.filter(isPending);
    const dispatched = await dispatcher.dispatch(withoutErased(checked, erasedIn(stored)), pending, leasedAt);
    let next = 0;
    const decided = stored.map((one) => {
      const after = isPending(one) ? dispatched[next++] : undefined;
      return after === undefined ? decidedAsStored(one) : { ...one, ...after };
    });
    return allWritten(checked.delivery, source, decided);
  }

  /**
   * Throws where the inbox could not write that a target has had one of the leads, once those are said that are accepted now:
   * they are duplicates when the delivery comes again.
   */
  async function allWritten(
    delivery: Delivery,
    source: AnsweredDelivery['source'],
    leads: readonly (DecidedLead & Partial<Pick<DispatchedLead, 'failure'>>)[],
  ): Promise<readonly DecidedLead[]> {
    const [failure] = leads.flatMap((lead) => lead.failure ?? []);
    if (failure === undefined) return leads;
    const { status } = rejection('cannot_store', '');
    await emitEach(
      { delivery, source, status },
      leads.filter(({ kind }) => kind === 'accepted'),
    );
    throw failure;
  }

  /** That they are stored is enough: their targets follow. */
  function followLater(
    checked: CheckedDelivery,
    stored: readonly StoredLead[],
    leasedAt: number,
  ): readonly DecidedLead[] {
    const pending = stored.filter(isPending);
    // Who sends a lead again asks for a try; a new one waits in the inbox for a target that is away.
    const waits = (name: string, { stored: { attempt } }: PendingLead): boolean =>
      attempt === 1 && outbox?.isAway(name) === true;
    const waiting = atTargets(pending, waits);
    if (waiting.length > 0) follow(() => dispatcher.giveBack(waiting));
    const tried = atTargets(pending, (name, one) => !waits(name, one));
    // What is too much to hold is read from the inbox again.
    const isHeld = dispatcher.size + tried.length <= mostFollowing;
    if (tried.length > 0) {
      const hand = (): Promise<void> => handOn(withoutErased(checked, erasedIn(stored)), tried, leasedAt);
      follow(() => (isHeld ? hand() : leaveToOutbox(tried)));
    }
    return stored.map(({ lead, stored: taken }) => {
      if (taken.kind !== 'pending') return { lead, stored: taken, kind: taken.kind };
      const answered = taken.attempt === 1 ? 'accepted' : 'duplicate';
      return { lead, stored: taken, kind: taken.attempt === 1 ? 'pending' : 'duplicate', answered };
    });
  }

  function follow(work: () => Promise<void>): void {
    following.run(work).catch((error: unknown) => note({ kind: 'outbox-failed', why: sentenceOf(error) }));
  }

  async function leaveToOutbox(pending: readonly PendingLead[]): Promise<void> {
    await dispatcher.giveBack(pending);
    // Only then are they no longer in flight.
    setImmediate(() => outbox?.wake());
  }

  /** What came of it is an event, unless somebody else's try was shared. */
  async function handOn(
    checked: CheckedDelivery,
    pending: readonly PendingLead[],
    leasedAt: number,
  ): Promise<void> {
    const dispatched = await dispatcher.dispatch(checked, pending, leasedAt);
    const decided = pending.map((one, i) => ({ ...one, kind: 'pending' as const, ...dispatched[i] }));
    const tried = (await allWritten(checked.delivery, 'outbox', decided)).filter(
      ({ targetResults = [] }) => targetResults.length > 0,
    );
    if (tried.length > 0) await answer(checked.delivery, 'outbox', tried);
  }

  /** The answer, or its promise where a listener of the events, one for each lead, has no room for more yet. */
  function answer(
    delivery: Delivery,
    source: AnsweredDelivery['source'],
    leads: readonly DecidedLead[],
  ): Answered {
    const ordinary = answerForLeads(
      leads.map(({ answered, kind, lead }) => ({ kind: answered ?? kind, leadId: lead.leadId })),
    );
    const given =
      failures === undefined ? ordinary : { ...ordinary, status: failures.statusFor(ordinary.status) };
    const answered = { delivery, source, status: given.status };
    return emitEach(answered, leads)?.then(() => given) ?? given;
  }

  /** Undefined where the listeners have room for all of them at once. */
  function emitEach(
    answered: Pick<AnsweredDelivery, 'delivery' | 'source' | 'status'>,
    leads: readonly DecidedLead[],
    from = 0,
  ): Promise<unknown> | undefined {
    for (let i = from; i < leads.length; i += 1) {
      const position = leads.length === 1 ? undefined : { number: i + 1, of: leads.length };
      const room = events.emit(eventOf(answered, leads[i], position));
      if (room !== undefined) return room.then(() => emitEach(answered, leads, i + 1));
    }
    return undefined;
  }

  /** From rejected to answered: keeps the delivery, without waiting for it, for those who look into the inbox. */
  function handleRejected(delivery: Delivery, verdict: Rejection, leadId?: string): Promise<DeliveryAnswer> {
    inbox.reject([{ delivery, rejection: verdict, leadId }]).catch((error: unknown) => {
      note({ kind: 'rejected-not-kept', why: sentenceOf(error) });
    });
    const explanation = explain?.(delivery, verdict);
    return answerRejected(delivery, 'push', { verdict, leadId, explanation });
  }

  /** From checked to answered. Another event is kept first; a handshake brings nothing. */
  async function handleOther(delivery: Delivery, verdict: OtherDelivery): Promise<DeliveryAnswer> {
    try {
      if (verdict.reason === 'other_event') await inbox.reject([{ delivery, rejection: verdict }]);
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      return answerRejected(delivery, 'push', { verdict: rejection('cannot_store', sentenceOf(error)) });
    }
    return answerRejected(delivery, 'push', { verdict });
  }

  async function answerRejected(
    delivery: Delivery,
    source: Source,
    rejected: RejectedDelivery,
  ): Promise<DeliveryAnswer> {
    const { verdict } = rejected;
    const given = verdict.kind === 'other' ? verdict.answer : answerForOutcome(verdict);
    const room = events.emit(eventOf({ delivery, source, status: given.status, ...rejected }));
    if (room !== undefined) await room;
    return given;
  }

  /** Written out, since copying parts into it would cost more than all else of the answer. */
  function eventOf(
    event: Pick<AnsweredDelivery, 'delivery' | 'source' | 'status'> & Partial<RejectedDelivery>,
    decided?: DecidedLead,
    position?: AnsweredDelivery['position'],
  ): AnsweredDelivery {
    const { delivery, source, status, verdict } = event;
    return {
      delivery,
      receivedAt: delivery.receivedAt,
      verdict: decided?.kind ?? verdict?.kind ?? 'rejected',
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
      lead:
        decided === undefined || decided.isErased === true || isErased(decided.stored)
          ? undefined
          : decided.lead.lead.bytes,
      differs: decided?.stored.differs,
      pointer: decided?.lead.pointer,
      warnings: decided?.lead.warnings,
      targetResults: decided?.targetResults,
      explanation: event.explanation,
    };
  }

  /** For what came from outside only. */
  const timed = async (work: () => Answered): Promise<DeliveryAnswer> => {
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
    handOn: (...leased) => inFlight.run(() => handOn(...leased)),
    handleRejected: (delivery, rejection) => timed(() => handleRejected(delivery, rejection)),
    isDispatching: (...asked) => dispatcher.isDispatching(...asked),
    release: (leases) => dispatcher.release(leases),
    events,
    followed: () => following.idle(),
    idle: async () => {
      await inFlight.idle();
      await following.idle();
    },
  };
}

/** Leads on their way to targets whose deliveries are answered already. */
const mostFollowing = 256;

async function observed<T>(take: () => Promise<T>, observer: ReceiverObserver): Promise<T> {
  const startedAt = observer.now();
  try {
    const taken = await take();
    observer.stored(observer.now() - startedAt);
    return taken;
  } catch (error) {
    observer.notStored();
    throw error;
  }
}

/** A delivery of several leads has no id of its own. */
const onlyIdOf = ({ leads }: CheckedDelivery): string | undefined =>
  leads.length === 1 ? leads[0]?.leadId : undefined;

const erasedIn = (leads: readonly StoredLead[]): ReadonlySet<string> =>
  new Set(leads.filter(({ stored }) => isErased(stored)).map(({ stored }) => stored.leadId));

/** A replay is one of the whole delivery. */
function storedLeads(
  { leads }: CheckedDelivery,
  taken: readonly TakeResult[],
): readonly StoredLead[] | Rejection {
  const stored: StoredLead[] = [];
  for (const lead of leads) {
    const result = taken[stored.length];
    if (result === undefined) throw new Error('the inbox returned no result for a lead');
    if (result.kind === 'rejected') return result;
    stored.push({ lead, stored: result });
  }
  return stored;
}

const decidedAsStored = ({ lead, stored }: StoredLead): DecidedLead => ({ lead, stored, kind: stored.kind });

const isPending = (one: StoredLead): one is PendingLead => one.stored.kind === 'pending';

/** The leads that go to some of the targets, and of each those. */
const atTargets = (
  pending: readonly PendingLead[],
  goes: (target: string, one: PendingLead) => boolean,
): readonly PendingLead[] =>
  pending.flatMap((one): PendingLead[] => {
    const targets = one.stored.targets.filter(({ name }) => goes(name, one));
    return targets.length === 0 ? [] : [{ ...one, stored: { ...one.stored, targets } }];
  });
