import type { HandedResult, Inbox, StoredRef, TakeResult } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import type { Clock } from '../time/clock.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import type { Target, TargetResult } from './targets/target.ts';

/** A stored lead that at least one target has not had yet. */
export interface PendingLead {
  readonly lead: CheckedLead;
  readonly stored: Extract<TakeResult, { readonly kind: 'pending' }>;
}

/** `target`: a label that holds no credentials. */
export type LabelledResult = TargetResult & { readonly target: string };

/** A lead after the targets had their turn. */
export interface DispatchedLead {
  /** `pending` while a target has not taken the lead. */
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  /** One for each target that was tried, in their order. */
  readonly targetResults: readonly LabelledResult[];
}

/** What came of a lead at one target. */
interface HandedLead {
  readonly leadId: string;
  readonly kind: DispatchedLead['kind'];
  readonly result: LabelledResult;
}

/** Delivers leads to their targets: to each at least once, and never one lead twice at the same time. */
export class TargetDeliverer {
  readonly #inbox: Pick<Inbox, 'settle' | 'release'>;
  readonly #targets: readonly Target[];
  readonly #labels: ReadonlyMap<string, string>;
  readonly #clock: Pick<Clock, 'now'>;
  /** By id of a lead: the work on its delivery, which ends with what became of each lead of that. */
  readonly #inFlight = new Map<string, Promise<ReadonlyMap<string, DispatchedLead>>>();

  /** `targets` in the order of their results. */
  constructor(
    inbox: Pick<Inbox, 'settle' | 'release'>,
    targets: readonly Target[],
    clock: Pick<Clock, 'now'>,
  ) {
    this.#inbox = inbox;
    this.#targets = targets;
    this.#labels = new Map(targets.map(({ name }) => [name, targetLabel(name)]));
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

  /** All targets at the same time: one that fails, or takes long, holds no other. */
  async #deliverToAll(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
  ): Promise<ReadonlyMap<string, DispatchedLead>> {
    const dispatched = new Map<string, DispatchedLead>(leads.map(({ stored }) => [stored.leadId, notYet]));
    const handed = await Promise.allSettled(
      this.#targets.map((target) => this.#deliverTo(target, checked, leads)),
    );
    for (const one of handed) {
      if (one.status === 'rejected') throw one.reason;
      for (const { leadId, kind, result } of one.value) {
        const before = dispatched.get(leadId) ?? notYet;
        dispatched.set(leadId, {
          // Whichever target was the last to have the lead.
          kind: before.kind === 'pending' ? kind : before.kind,
          targetResults: [...before.targetResults, result],
        });
      }
    }
    return dispatched;
  }

  async #deliverTo(
    target: Target,
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
  ): Promise<readonly HandedLead[]> {
    const label = this.#labels.get(target.name) ?? '';
    const wanting = leads.filter(({ stored }) => stored.targets.some(({ name }) => name === target.name));
    if (wanting.length === 0) return [];
    const results = target.deliver(
      checked,
      wanting.map(({ lead, stored }) => ({ ...lead, attempt: stored.attempt })),
    );
    // Each by itself: what took one lead is stored although another one of the delivery takes longer, or is never done.
    const kept = await Promise.allSettled(
      wanting.map(async ({ stored: { leadId, seq } }, i): Promise<HandedLead | undefined> => {
        const given = await results[i];
        if (given === undefined) return undefined;
        const result = { ...given, target: label };
        const lease = { leadId, seq, target: target.name, result: this.#kept(result) };
        if (result.ok || target.bestEffort === true) {
          // Those that end together share a transaction.
          const [kind = 'pending'] = await this.#inbox.settle([lease]);
          return { leadId, kind, result };
        }
        // Before the service is asked to send it again, since the next delivery may reach another receiver. Where that
        // cannot be stored, the lease expires by itself.
        await Promise.allSettled([this.#inbox.release([lease])]);
        return { leadId, kind: 'pending', result };
      }),
    );
    return kept.flatMap((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value ?? [];
    });
  }

  #kept({ ok, answer, durationMs }: TargetResult): HandedResult {
    return { ok, answer, durationMs, at: this.#clock.now() };
  }
}

const notYet: DispatchedLead = { kind: 'pending', targetResults: [] };
