import type { Inbox, StoredRef, TakeResult } from '../inbox/inbox.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { TargetResult, Target } from './targets/target.ts';

/** How a delivery stands after its lead was handed on. */
export interface Dispatched {
  readonly kind: 'accepted' | 'duplicate' | 'pending';
  readonly handed: readonly TargetResult[];
}

/** Hands leads to their targets: at least once each, in order, and never twice at the same time. */
export class Dispatcher {
  readonly #inbox: Inbox;
  readonly #targets: readonly Target[];
  readonly #bestEffort: boolean;
  readonly #inFlight = new Map<string, Promise<Dispatched>>();

  /** `bestEffort`: a target that failed counts as done, since the service will not send the lead again. */
  constructor(inbox: Inbox, targets: readonly Target[], bestEffort: boolean) {
    this.#inbox = inbox;
    this.#targets = targets;
    this.#bestEffort = bestEffort;
  }

  /** A delivery of a lead that is being handed on already waits for that, and shares its fate. */
  async carry(examined: CheckedDelivery, pending: TakeResult & { kind: 'pending' }): Promise<Dispatched> {
    if (pending.busy) return { kind: 'pending', handed: [] };
    const { leadId } = examined;
    const running = this.#inFlight.get(leadId);
    if (running !== undefined) return this.#join(await running, pending);
    const work = this.#hand(examined, pending);
    this.#inFlight.set(leadId, work);
    try {
      return await work;
    } finally {
      // Deliveries stored in the same batch as the last step learn of it only now, and must still find it here.
      setImmediate(() => this.#inFlight.delete(leadId));
    }
  }

  async #join(fate: Dispatched, { leadId, seq }: StoredRef): Promise<Dispatched> {
    const first = this.#targets[0];
    if (fate.kind === 'pending' || first === undefined) return { kind: 'pending', handed: [] };
    const [kind = 'pending'] = await this.#inbox.settle([{ leadId, seq, target: first.name }]);
    return { kind, handed: [] };
  }

  async #hand(
    examined: CheckedDelivery,
    { leadId, seq, targets }: TakeResult & { kind: 'pending' },
  ): Promise<Dispatched> {
    const handed: TargetResult[] = [];
    let kind: Dispatched['kind'] = 'pending';
    for (const target of this.#targets) {
      if (!targets.includes(target.name)) continue;
      const result = await target.deliver(examined);
      handed.push(result);
      if (!result.ok && !this.#isForgiven(result)) {
        // Released before the service is asked to retry, since another receiver may get that delivery. When this cannot
        // be stored, the leases expire by themselves.
        await this.#inbox
          .release(targets.map((name) => ({ leadId, seq, target: name })))
          .catch(() => undefined);
        return { kind: 'pending', handed };
      }
      [kind = 'pending'] = await this.#inbox.settle([{ leadId, seq, target: target.name }]);
    }
    return { kind, handed };
  }

  /** The file is ours: that it could not be written is never forgiven. */
  readonly #isForgiven = ({ to }: TargetResult): boolean => this.#bestEffort && to !== 'output';
}
