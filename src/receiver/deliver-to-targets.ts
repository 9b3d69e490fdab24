import type { HandedResult, Inbox, StoredRef, TakeResult, TargetLease } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import type { Target, TargetResult } from './targets/target.ts';

/** A stored lead that at least one target has not had yet. */
export interface PendingLead {
  readonly lead: CheckedLead;
  readonly stored: Extract<TakeResult, { readonly kind: 'pending' }>;
}

/** A lead after the targets had their turn. */
export interface DispatchedLead {
  /** `pending` while a target has not taken the lead. */
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  /** One for each target that was tried, in order. */
  readonly targetResults: readonly TargetResult[];
}

/** Delivers leads to their targets: to each at least once, in order, and never one lead twice at the same time. */
export class TargetDeliverer {
  readonly #inbox: Pick<Inbox, 'settle' | 'release'>;
  readonly #targets: readonly Target[];
  readonly #clock: Pick<Clock, 'now'>;
  /** By id of a lead: the work on its delivery, which ends with what became of each lead of that. */
  readonly #inFlight = new Map<string, Promise<ReadonlyMap<string, DispatchedLead>>>();

  /** `targets` in the order in which each lead is delivered to them. */
  constructor(
    inbox: Pick<Inbox, 'settle' | 'release'>,
    targets: readonly Target[],
    clock: Pick<Clock, 'now'>,
  ) {
    this.#inbox = inbox;
    this.#targets = targets;
    this.#clock = clock;
  }

  /**
   * Dispatches leads of one delivery; one result for each, in order. A lead that is being dispatched already waits for that
   * and shares its result. Rejects with a `CannotStoreError` when the inbox cannot write that a target has had a lead.
   */
  async dispatch(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
  ): Promise<readonly DispatchedLead[]> {
    const mine = new Map<string, PendingLead>();
    for (const one of leads) {
      const { busy, leadId } = one.stored;
      if (!busy && !this.#inFlight.has(leadId) && !mine.has(leadId)) mine.set(leadId, one);
    }
    const work = this.#deliverToAll(checked, [...mine.values()]);
    for (const leadId of mine.keys()) this.#inFlight.set(leadId, work);
    try {
      return await Promise.all(
        leads.map(async (one) => {
          const { stored } = one;
          const first = stored.busy
            ? undefined
            : (await this.#inFlight.get(stored.leadId))?.get(stored.leadId);
          return mine.get(stored.leadId) === one ? (first ?? notYet) : this.#share(first ?? notYet, stored);
        }),
      );
    } finally {
      // Deliveries that were stored in the same batch as the last one of the lead get here only later, and still need it.
      setImmediate(() => {
        for (const leadId of mine.keys()) this.#inFlight.delete(leadId);
      });
    }
  }

  /** Whether the lead is on its way to a target now. */
  isDispatching(leadId: string): boolean {
    return this.#inFlight.has(leadId);
  }

  async #share(first: DispatchedLead, { leadId, seq }: StoredRef): Promise<DispatchedLead> {
    const [target] = this.#targets;
    if (first.kind === 'pending' || target === undefined) return notYet;
    const [kind = 'pending'] = await this.#inbox.settle([{ leadId, seq, target: target.name }]);
    return { kind, targetResults: [] };
  }

  /** A lead that one target does not take is given to none of the next ones. */
  async #deliverToAll(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
  ): Promise<ReadonlyMap<string, DispatchedLead>> {
    const dispatched = new Map<string, DispatchedLead>(leads.map(({ stored }) => [stored.leadId, notYet]));
    const failedIds = new Set<string>();
    for (const target of this.#targets) {
      const wanting = leads.filter(
        ({ stored }) => stored.targets.includes(target.name) && !failedIds.has(stored.leadId),
      );
      if (wanting.length === 0) continue;
      const results = target.deliver(
        checked,
        wanting.map(({ lead, stored }) => ({ ...lead, attempt: stored.attempt })),
      );
      // Each by itself: what took one lead is stored although another one of the delivery takes longer, or is never done.
      const kept = await Promise.allSettled(
        wanting.map(async ({ stored }, i) => {
          const result = await results[i];
          if (result === undefined) return;
          const { leadId } = stored;
          const isTaken = result.ok || target.bestEffort === true;
          const kind = await (isTaken
            ? this.#settle(stored, target, result)
            : this.#release(stored, target, result));
          const { targetResults } = dispatched.get(leadId) ?? notYet;
          dispatched.set(leadId, { kind, targetResults: [...targetResults, result] });
          if (!isTaken) failedIds.add(leadId);
        }),
      );
      for (const one of kept) if (one.status === 'rejected') throw one.reason;
    }
    return dispatched;
  }

  /** Stores that the target has had the lead. Those that end together share a transaction. */
  async #settle(
    { leadId, seq }: StoredRef,
    target: Target,
    result: TargetResult,
  ): Promise<DispatchedLead['kind']> {
    const lease = { leadId, seq, target: target.name, result: this.#kept(result) };
    const [kind = 'pending'] = await this.#inbox.settle([lease]);
    return kind;
  }

  /**
   * Gives up all leases on the lead before the service is asked to send it again: the next delivery may reach another
   * receiver. Where that cannot be stored, the leases expire by themselves.
   */
  async #release(
    { leadId, seq, targets }: PendingLead['stored'],
    failed: Target,
    result: TargetResult,
  ): Promise<'pending'> {
    const leases = targets.map((target): TargetLease => ({
      leadId,
      seq,
      target,
      result: target === failed.name ? this.#kept(result) : undefined,
    }));
    await Promise.allSettled([this.#inbox.release(leases)]);
    return 'pending';
  }

  #kept({ ok, answer, durationMs }: TargetResult): HandedResult {
    return { ok, answer, durationMs, at: this.#clock.now() };
  }
}

const notYet: DispatchedLead = { kind: 'pending', targetResults: [] };
