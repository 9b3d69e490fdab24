import type { HandedResult, Inbox, StoredRef, TakeResult } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { Target, TargetResult } from './targets/target.ts';

/** A stored delivery that at least one target has not had yet. */
export type PendingDelivery = Extract<TakeResult, { readonly kind: 'pending' }>;

/** A delivery after the targets had their turn. */
export interface DispatchedDelivery {
  /** `pending` while a target has not taken the lead. */
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  /** One for each target that was tried, in order. */
  readonly targetResults: readonly TargetResult[];
}

/** Delivers leads to their targets: to each at least once, in order, and never one lead twice at the same time. */
export class Dispatcher {
  readonly #inbox: Pick<Inbox, 'settle' | 'release'>;
  readonly #targets: readonly Target[];
  readonly #clock: Pick<Clock, 'now'>;
  readonly #inFlight = new Map<string, Promise<DispatchedDelivery>>();

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
   * A delivery of a lead that is being dispatched already waits for that and shares its result. Rejects with a
   * `CannotStoreError` when the inbox cannot write that a target has had the lead.
   */
  async dispatch(checked: CheckedDelivery, stored: PendingDelivery): Promise<DispatchedDelivery> {
    if (stored.busy) return notYet;
    const { leadId } = checked;
    const running = this.#inFlight.get(leadId);
    if (running !== undefined) return this.#share(await running, stored);
    const dispatched = this.#deliverToAll(checked, stored);
    this.#inFlight.set(leadId, dispatched);
    try {
      return await dispatched;
    } finally {
      // Deliveries that were stored in the same batch as the last settlement get here only later, and still need it.
      setImmediate(() => this.#inFlight.delete(leadId));
    }
  }

  async #share(first: DispatchedDelivery, stored: PendingDelivery): Promise<DispatchedDelivery> {
    const [target] = this.#targets;
    if (first.kind === 'pending' || target === undefined) return notYet;
    return { kind: await this.#settle(stored, target), targetResults: [] };
  }

  async #deliverToAll(checked: CheckedDelivery, stored: PendingDelivery): Promise<DispatchedDelivery> {
    const targetResults: TargetResult[] = [];
    let kind: DispatchedDelivery['kind'] = 'pending';
    for (const target of this.#targets) {
      if (!stored.targets.includes(target.name)) continue;
      const result = await target.deliver(checked, stored.attempt);
      targetResults.push(result);
      const { ok, answer, durationMs } = result;
      const handed = { ok, answer, durationMs, at: this.#clock.now() };
      if (!ok && target.bestEffort !== true) {
        await this.#release(stored, target, handed);
        return { kind: 'pending', targetResults };
      }
      kind = await this.#settle(stored, target, handed);
    }
    return { kind, targetResults };
  }

  async #settle(
    { leadId, seq }: StoredRef,
    target: Target,
    result?: HandedResult,
  ): Promise<DispatchedDelivery['kind']> {
    const [kind = 'pending'] = await this.#inbox.settle([{ leadId, seq, target: target.name, result }]);
    return kind;
  }

  /**
   * Gives up the leases before the service is asked to send the lead again: the next delivery may reach another receiver.
   * Where that cannot be stored, the leases expire by themselves. `failed` is the target that did not take the lead.
   */
  async #release(
    { leadId, seq, targets }: PendingDelivery,
    failed: Target,
    result: HandedResult,
  ): Promise<void> {
    const leases = targets.map((target) => ({
      leadId,
      seq,
      target,
      result: target === failed.name ? result : undefined,
    }));
    await Promise.allSettled([this.#inbox.release(leases)]);
  }
}

const notYet: DispatchedDelivery = { kind: 'pending', targetResults: [] };
