import {
  CannotStoreError,
  type HandedResult,
  type Inbox,
  type LeadState,
  type LeaseAnswer,
  type StoredRef,
  type TakeResult,
  type TargetLease,
} from '../inbox/inbox.ts';
import { remainingDelivery } from '../inbox/delivery-record.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { setNewest } from '../set-newest.ts';
import type { Clock } from '../time/clock.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import { leaseMs, LeaseRenewal, uncertainMs } from './lease-renewal.ts';
import type { Target, TargetResult } from './targets/target.ts';

/** A target that is to be tried for a lead. */
export interface WantedTry {
  readonly name: string;
  /** How often it was tried for the lead. */
  readonly tries: number;
  /** When the lead became outstanding there, in milliseconds since the epoch; undefined: it came only now. */
  readonly since?: number | undefined;
  /** The target answered when the try began; undefined where nobody looked. */
  readonly isAnswering?: boolean | undefined;
  /** The grant of its lease came so late that another receiver has the lead, or has delivered it. */
  readonly isElsewhere?: boolean | undefined;
}

/** A stored lead that at least one target has not had yet. */
export interface PendingLead {
  readonly lead: CheckedLead;
  readonly stored: Extract<TakeResult, { readonly kind: 'pending' }> & {
    readonly targets: readonly WantedTry[];
  };
}

/** `target`: a label that holds no credentials. */
export type LabelledResult = TargetResult & { readonly target: string };

/** A lead after the targets had their turn. */
export interface DispatchedLead {
  /** `pending` while a target has not taken the lead. */
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  /** One for each target that was tried, in their order. */
  readonly targetResults: readonly LabelledResult[];
  /** Why the inbox could not write that a target has had the lead, a `CannotStoreError`. */
  readonly failure?: Error | undefined;
  /** It was erased before it could be handed on. */
  readonly isErased?: true;
}

/** Is told of every try, and says when a lead that was not taken is due again. */
export type OnTry = (target: Target, wanted: WantedTry, result: TargetResult, leadId: string) => NextTry;

export interface NextTry extends Pick<TargetLease, 'retryAt' | 'dead'> {
  /** Called once the inbox has it, or with false where it did not say so. */
  readonly onReleased?: (isStored: boolean) => void;
}

/** What came of a lead at one target. */
interface HandedLead extends Pick<DispatchedLead, 'kind'> {
  readonly isTaken: boolean;
  /** None of another receiver. */
  readonly result?: LabelledResult;
}

/** What a lead waits for at one target. `isOwn` is false for a try that was in flight before, here or at another receiver. */
interface AwaitedTry {
  readonly target: string;
  isOwn: boolean;
  readonly handed: Promise<HandedLead>;
}

interface DelivererOptions {
  readonly onTry?: OnTry | undefined;
  /** Nobody waits for other receivers any more. */
  readonly signal?: AbortSignal | undefined;
  /** The receiver is told to end, and its commands may be as well. */
  readonly stopping?: AbortSignal | undefined;
  /** The targets are cut short. */
  readonly cut?: AbortSignal | undefined;
}

/** Leads of one target that had it and could not be settled: of more the oldest are forgotten, and handed over again. */
const mostUnsettled = 1000;

/** How long a lead waits whose command was ended while this receiver stops, in milliseconds. */
const afterStopMs = 5_000;

/** `erased`: ids; `askedAt`: when the leases were asked for that hold now. */
interface LeasedAgain {
  readonly again: readonly PendingLead[];
  readonly erased: ReadonlySet<string>;
  readonly askedAt: number;
}

/** One lease. */
const keyOf = ({ leadId, target }: Pick<TargetLease, 'leadId' | 'target'>): string => `${target}\0${leadId}`;

const keysOf = ({ stored: { leadId, targets } }: PendingLead): readonly string[] =>
  targets.map(({ name }) => keyOf({ leadId, target: name }));

/** As one of which a delivery comes after it was erased. */
const erasedLead: DispatchedLead = { kind: 'duplicate', targetResults: [], isErased: true };

/** What the targets may get: the whole delivery, unless a lead in it was erased. */
export function withoutErased(checked: CheckedDelivery, erased: ReadonlySet<string>): CheckedDelivery {
  if (erased.size === 0) return checked;
  const leads = checked.leads.filter(({ leadId }) => !erased.has(leadId));
  const places = leads.flatMap(({ place }) => place ?? []);
  return { ...checked, leads, delivery: remainingDelivery(checked.delivery, places) };
}

/** Delivers leads to their targets: to each at least once, and never one lead twice at the same time to one target. */
export class TargetDeliverer {
  readonly #inbox: Pick<Inbox, 'settle' | 'release' | 'lease' | 'states'>;
  readonly #leases: LeaseRenewal;
  readonly #targets: readonly Target[];
  readonly #labels: ReadonlyMap<string, string>;
  readonly #clock: Pick<Clock, 'now' | 'steady'>;
  readonly #onTry: OnTry | undefined;
  readonly #stopping: AbortSignal | undefined;
  readonly #cut: AbortSignal | undefined;
  /** By id of a lead, and name of a target. */
  readonly #inFlight = new Map<string, Map<string, Promise<HandedLead>>>();
  /** Leads whose leases are asked for again. */
  readonly #asking = new Set<PendingLead>();
  /** By `keyOf`: resolves when the inbox has ended the lease. */
  readonly #releasing = new Map<string, Promise<void>>();
  /** By `keyOf`, oldest first: when the inbox answered that a lease was released, by the clock that goes on evenly. */
  readonly #released = new Map<string, number>();
  /** By name of a target, and id of a lead, what the inbox could not note: it is not handed over again for that. */
  readonly #unsettled = new Map<string, Map<string, TargetResult>>();

  /** `targets` in the order of their results. */
  constructor(
    inbox: Pick<Inbox, 'settle' | 'release' | 'lease' | 'states'>,
    targets: readonly Target[],
    clock: Clock,
    { onTry, signal, stopping, cut }: DelivererOptions = {},
  ) {
    this.#inbox = inbox;
    this.#leases = new LeaseRenewal(inbox, clock, signal);
    this.#targets = targets;
    this.#labels = new Map(targets.map(({ name }) => [name, targetLabel(name)]));
    this.#clock = clock;
    this.#onTry = onTry;
    this.#stopping = stopping;
    this.#cut = cut;
  }

  /**
   * Dispatches leads of one delivery to all their targets at the same time; one result for each, in order. Where a lead is on
   * its way to a target already, its result there is shared; where other receivers hand it on, it waits for them.
   * `leasedAt`: when the leases were asked for, by the clock that goes on evenly.
   */
  async dispatch(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
    leasedAt: number,
  ): Promise<readonly DispatchedLead[]> {
    const { begun } = await this.#onceLeased(leads, leasedAt, ({ again, erased, askedAt }) => {
      const left = again.filter(({ stored }) => !erased.has(stored.leadId));
      return { again, left, dispatched: this.#dispatch(withoutErased(checked, erased), left, askedAt) };
    });
    const { again, left } = begun;
    const dispatched = await begun.dispatched;
    if (left.length === again.length) return dispatched;
    const outcomes = new Map(left.map((one, i) => [one, dispatched[i]]));
    return again.map((one) => outcomes.get(one) ?? erasedLead);
  }

  /**
   * Begins with leads whose leases hold: at once, or, where they may have ended, after it has asked for them again. Until it
   * has begun, this receiver ends none of them.
   */
  async #onceLeased<T>(
    leads: readonly PendingLead[],
    leasedAt: number,
    begin: (leased: LeasedAgain) => T,
  ): Promise<{ readonly begun: T }> {
    const isUncertain =
      this.#leases.areUncertain(leasedAt) || leads.some((one) => this.#isEnded(one, leasedAt));
    if (!isUncertain) return { begun: begin({ again: leads, erased: new Set(), askedAt: leasedAt }) };
    for (const one of leads) this.#asking.add(one);
    try {
      const releases = leads.flatMap(keysOf).flatMap((key) => this.#releasing.get(key) ?? []);
      if (releases.length > 0) await Promise.allSettled(releases);
      return { begun: begin(await this.#askedAgain(leads, leasedAt)) };
    } finally {
      for (const one of leads) this.#asking.delete(one);
    }
  }

  async #dispatch(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
    leasedAt: number,
  ): Promise<readonly DispatchedLead[]> {
    const awaited = new Map(leads.map((one): [PendingLead, AwaitedTry[]] => [one, []]));
    for (const target of this.#targets) this.#begin(target, checked, awaited, leasedAt);
    const outcomes = leads.map((one) => this.#outcome(one.stored, awaited.get(one) ?? []));
    return (await Promise.allSettled(outcomes)).map((one) =>
      one.status === 'fulfilled'
        ? one.value
        : { kind: 'pending', targetResults: [], failure: one.reason as Error },
    );
  }

  /** `release` of all leases that the leads came with. */
  async giveBack(leads: readonly PendingLead[]): Promise<void> {
    await this.release(
      leads.flatMap(({ stored: { leadId, seq, targets } }) =>
        targets.map(({ name }) => ({ leadId, seq, target: name })),
      ),
    );
  }

  /**
   * Ends leases whose leads are not handed on, each of which would count as a try where it ended by itself. A delivery of such
   * a lead that comes meanwhile waits for that, and asks for a lease of its own.
   */
  async release(unused: readonly TargetLease[]): Promise<void> {
    // The lease of one that is on its way ends with that.
    const leases = unused.filter(({ leadId, target }) => !this.isDispatching(leadId, target));
    if (leases.length === 0) return;
    const released = this.#releaseNow(leases);
    const keys = leases.map(keyOf);
    for (const key of keys) this.#releasing.set(key, released);
    try {
      await released;
    } finally {
      for (const key of keys) if (this.#releasing.get(key) === released) this.#releasing.delete(key);
    }
  }

  async #releaseNow(leases: readonly TargetLease[]): Promise<void> {
    try {
      await this.#inbox.release(leases);
    } finally {
      this.#noteReleased(leases);
    }
  }

  /** A lease that was granted before may have ended with it. */
  #noteReleased(leases: readonly TargetLease[]): void {
    const now = this.#clock.steady();
    for (const key of leases.map(keyOf)) {
      this.#released.delete(key);
      this.#released.set(key, now);
    }
    for (const [key, at] of this.#released) {
      if (now - at < uncertainMs) break;
      this.#released.delete(key);
    }
  }

  /** A lease that was granted to this receiver while it released another one of the lead may have ended with that. */
  #isEnded(one: PendingLead, leasedAt: number): boolean {
    return keysOf(one).some(
      (key) => this.#releasing.has(key) || (this.#released.get(key) ?? -Infinity) >= leasedAt,
    );
  }

  /** Whether the lead is on its way now, or about to be, to that target or to any. */
  isDispatching(leadId: string, target?: string): boolean {
    for (const { stored } of this.#asking) {
      if (stored.leadId !== leadId) continue;
      if (target === undefined || stored.targets.some(({ name }) => name === target)) return true;
    }
    const atTargets = this.#inFlight.get(leadId);
    return target === undefined ? atTargets !== undefined : atTargets?.has(target) === true;
  }

  /** Leads that are on their way now, or are about to be. */
  get size(): number {
    return this.#inFlight.size + this.#asking.size;
  }

  /** All in one question. */
  async #askedAgain(leads: readonly PendingLead[], leasedAt: number): Promise<LeasedAgain> {
    const askedAt = this.#clock.steady();
    let answers: readonly LeaseAnswer[];
    let known: ReadonlyMap<string, LeadState>;
    try {
      answers = await this.#inbox.lease(
        leads.flatMap(({ stored: { leadId, seq, targets } }) =>
          targets.map(({ name }) => ({ leadId, seq, target: name })),
        ),
      );
      const isUnclear = answers.some(({ state }) => state === 'not outstanding');
      known = isUnclear ? await this.#inbox.states(leads.map(({ stored }) => stored.leadId)) : new Map();
    } catch (error) {
      const isOver = this.#clock.steady() - leasedAt >= leaseMs;
      const holds = !isOver && !leads.some((one) => this.#isEnded(one, leasedAt));
      // That the inbox fails now is no reason to hold back what it has granted.
      if (error instanceof CannotStoreError && holds)
        return { again: leads, erased: new Set(), askedAt: leasedAt };
      throw error;
    }
    let next = 0;
    const erased = new Set<string>();
    const again = leads.map(({ lead, stored }) => {
      const { leadId } = stored;
      const own = stored.targets.map(() => answers[next++]);
      const isGone = own.length > 0 && own.every((answer) => answer?.state === 'not outstanding');
      if (isGone && known.get(leadId) === 'accepted') erased.add(leadId);
      const targets = stored.targets.map((wanted, i) => {
        const answer = own[i];
        const tries = Math.max(wanted.tries, answer?.tries ?? 0);
        // What the inbox does not know any more, after a failover, is on its way to nobody.
        const isUnknown = answer?.state === 'not outstanding' && !known.has(leadId);
        return { ...wanted, tries, isElsewhere: answer?.state !== 'leased' && !isUnknown };
      });
      return { lead, stored: { ...stored, targets } };
    });
    return { again, erased, askedAt };
  }

  /** Adds what each lead waits for at the target. */
  #begin(
    target: Target,
    checked: CheckedDelivery,
    awaited: ReadonlyMap<PendingLead, AwaitedTry[]>,
    leasedAt: number,
  ): void {
    const { name } = target;
    const own = new Map<string, { readonly one: PendingLead; readonly wanted: WantedTry }>();
    const waiting: PendingLead[] = [];
    for (const one of awaited.keys()) {
      const { leadId, targets } = one.stored;
      const wanted: WantedTry | undefined = targets.find((each) => each.name === name);
      const isBusy =
        wanted === undefined
          ? one.stored.busy && target.takes?.(one.lead.lead) !== false
          : wanted.isElsewhere === true;
      if (wanted === undefined || isBusy) {
        if (isBusy) awaited.get(one)?.push(this.#afterOther(target, checked, one));
        continue;
      }
      waiting.push(one);
      const isKnown = own.has(leadId) || this.#inFlight.get(leadId)?.has(name) === true;
      if (!isKnown) own.set(leadId, { one, wanted });
    }
    const tried = [...own.values()];
    const had = this.#unsettled.get(name);
    const lacking = had === undefined ? tried : tried.filter(({ one }) => !had.has(one.stored.leadId));
    const attempted = lacking.map(({ one, wanted }) => ({ ...one.lead, attempt: wanted.tries + 1 }));
    let abandon: (() => void) | undefined;
    let isAbandoned = false;
    const results =
      lacking.length === 0 ? [] : target.deliver(checked, attempted, (how) => void (abandon = how));
    const onLost = (): void => {
      isAbandoned = abandon !== undefined;
      abandon?.();
    };
    let next = 0;
    for (const { one, wanted } of tried) {
      const { leadId, seq } = one.stored;
      const lease = { leadId, seq, target: name };
      const known = had?.get(leadId);
      const handed = known === undefined ? results[next++] : Promise.resolve(known);
      const given = this.#whileLeased(lease, leasedAt, handed, onLost).then(async (result) => {
        if (result?.ok !== false || !isAbandoned) return result;
        // Cut short for another lead of its request: that says nothing of the target.
        await Promise.allSettled([this.#releaseNow([lease])]);
        return undefined;
      });
      this.#setInFlight(leadId, name, this.#keep(target, one.stored, wanted, given));
    }
    for (const one of waiting) {
      const { leadId } = one.stored;
      const handed = this.#inFlight.get(leadId)?.get(name);
      const isOwn = own.get(leadId)?.one === one;
      if (handed !== undefined) awaited.get(one)?.push({ target: name, isOwn, handed });
    }
  }

  /** Until it has ended, whatever other targets make of the lead. */
  #setInFlight(leadId: string, target: string, handed: Promise<HandedLead>): void {
    const atTargets = this.#inFlight.get(leadId) ?? new Map<string, Promise<HandedLead>>();
    this.#inFlight.set(leadId, atTargets.set(target, handed));
    // Deliveries that were stored in the same batch as the last one of the lead get here only later, and still need it.
    const ended = (): unknown => setImmediate(() => this.#forget(leadId, target));
    void handed.then(ended, ended);
  }

  #forget(leadId: string, target: string): void {
    const atTargets = this.#inFlight.get(leadId);
    atTargets?.delete(target);
    if (atTargets?.size === 0) this.#inFlight.delete(leadId);
  }

  /** Hands the lead on where the other receiver did not. */
  #afterOther(target: Target, checked: CheckedDelivery, one: PendingLead): AwaitedTry {
    const { leadId, seq } = one.stored;
    const { name } = target;
    const lease = { leadId, seq, target: name };
    // What cannot be given back ends by itself.
    const giveBack = (): unknown => Promise.allSettled([this.release([lease])]);
    const handed = this.#leases.afterOther(lease, giveBack).then(async (answer) => {
      if (answer?.state !== 'leased')
        return { isTaken: answer?.state === 'settled', kind: 'pending' } as const;
      const wanted = one.stored.targets.find((each) => each.name === name);
      const targets = [{ ...wanted, name, tries: answer.tries, isElsewhere: false }];
      const granted: PendingLead = { ...one, stored: { ...one.stored, targets } };
      const { begun } = await this.#onceLeased([granted], answer.askedAt, ({ again, askedAt }) => {
        const tries: AwaitedTry[] = [];
        const own = again.filter(({ stored }) =>
          stored.targets.every((each: WantedTry) => each.isElsewhere !== true),
        );
        this.#begin(target, checked, new Map(own.map((lead) => [lead, tries])), askedAt);
        return tries[0];
      });
      if (begun === undefined) return { isTaken: false, kind: 'pending' } as const;
      awaited.isOwn = begun.isOwn;
      return begun.handed;
    });
    const awaited: AwaitedTry = { target: name, isOwn: false, handed };
    return awaited;
  }

  /** Undefined: another receiver has the lead now. */
  async #whileLeased(
    lease: TargetLease,
    leasedAt: number,
    handed: Promise<TargetResult> | undefined,
    abandon: () => void,
  ): Promise<TargetResult | undefined> {
    const end = this.#leases.keep(lease, leasedAt, abandon);
    try {
      const given = await handed;
      if (given === undefined) throw new Error('a target gave no result');
      return end() || given.ok ? given : undefined;
    } finally {
      end();
    }
  }

  /** Each lead by itself: what took one is stored although another one of the delivery takes longer, or is never done. */
  async #keep(
    target: Target,
    { leadId, seq }: StoredRef,
    wanted: WantedTry,
    handed: Promise<TargetResult | undefined>,
  ): Promise<HandedLead> {
    const given = await handed;
    if (given === undefined) return { isTaken: false, kind: 'pending' };
    // A failure that the end of this receiver made says nothing of the target: the lead is due as before.
    const isStopped = given.isInterrupted === true && this.#stopping?.aborted === true;
    const isCut = !given.ok && (isStopped || this.#cut?.aborted === true);
    const isTry = !isCut && this.#unsettled.get(target.name)?.get(leadId) !== given;
    // The outbox goes on until the cut, and would try it again at once.
    const whenStopped = isStopped ? { retryAt: this.#clock.now() + afterStopMs } : {};
    const { onReleased, ...next }: NextTry =
      (isTry && this.#onTry?.(target, wanted, given, leadId)) || whenStopped;
    const result = { ...given, isInterrupted: undefined, target: this.#labels.get(target.name) ?? '' };
    const lease = { leadId, seq, target: target.name, result: this.#kept(result, wanted.tries) };
    if (result.ok || (target.bestEffort === true && !isCut)) {
      try {
        // Those that end together share a transaction.
        const [kind = 'pending'] = await this.#inbox.settle([lease]);
        this.#unsettled.get(target.name)?.delete(leadId);
        return { isTaken: true, kind, result };
      } catch (error) {
        this.#remember(target.name, leadId, given);
        throw error;
      }
    }
    // Before the service is asked to send it again, since the next delivery may reach another receiver. Where that cannot
    // be stored, the lease expires by itself.
    const leases = [{ ...lease, ...next, since: wanted.since }];
    const [released] = await Promise.allSettled([this.#releaseNow(leases)]);
    onReleased?.(released.status === 'fulfilled');
    return { isTaken: false, kind: 'pending', result };
  }

  #remember(target: string, leadId: string, given: TargetResult): void {
    const had = this.#unsettled.get(target) ?? new Map<string, TargetResult>();
    this.#unsettled.set(target, had);
    setNewest(had, leadId, given, mostUnsettled);
  }

  /** Once all targets had their turn: one that fails, or takes long, holds no other. */
  async #outcome({ leadId, seq }: StoredRef, awaited: readonly AwaitedTry[]): Promise<DispatchedLead> {
    let kind: DispatchedLead['kind'] = 'pending';
    const targetResults: LabelledResult[] = [];
    const shared: string[] = [];
    let isTaken = true;
    for (const [i, ended] of (await Promise.allSettled(awaited.map(({ handed }) => handed))).entries()) {
      if (ended.status === 'rejected') throw ended.reason;
      isTaken &&= ended.value.isTaken;
      const { isOwn = false, target = '' } = awaited[i] ?? {};
      if (!isOwn) {
        shared.push(target);
        continue;
      }
      if (ended.value.result !== undefined) targetResults.push(ended.value.result);
      // Whichever target was the last to have the lead.
      if (ended.value.kind !== 'pending') kind = ended.value.kind;
    }
    const [target] = shared;
    if (kind === 'pending' && isTaken && target !== undefined) {
      [kind = 'pending'] = await this.#inbox.settle([{ leadId, seq, target }]);
    }
    return { kind, targetResults };
  }

  #kept({ ok, answer, durationMs }: TargetResult, tries: number): HandedResult {
    return { ok, answer, durationMs, at: this.#clock.now(), kind: tries > 0 ? 'retry' : 'forward' };
  }
}
