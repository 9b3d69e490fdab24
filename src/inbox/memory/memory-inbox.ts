import { messageOf } from '../../errors.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { cannotStore } from '../cannot-store-error.ts';
import type { TakenKind } from '../decide-verdict.ts';
import type {
  Arrival,
  DroppedRepeats,
  Inbox,
  InboxQuery,
  LeadQuery,
  LeaseState,
  Outstanding,
  RejectedDelivery,
  StoredDelivery,
  StoredLead,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { targetLabel } from '../target-name.ts';
import { MemoryWriter } from './memory-writer.ts';

/** A part of a batch; what it returns is the caller's result. */
type Step = () => unknown;

/** `:memory:`: what this process received, lost with it. The verdicts of the database without its cost. */
export class MemoryInbox implements Inbox {
  readonly location: string;
  readonly #options: Pick<StoreOptions, 'targets'>;
  readonly #writer: MemoryWriter;
  /**
   * Nothing has to be made durable, but answers that leave together wake their readers once: one by one, each would
   * cost more than all else that is done for its delivery.
   */
  readonly #group = new GroupCommit<Step, PromiseSettledResult<unknown>>((steps) => this.#commit(steps));

  constructor(options: StoreOptions) {
    this.location = options.location;
    this.#options = options;
    this.#writer = new MemoryWriter(options);
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add(() => arrivals.map((arrival) => this.#writer.take(arrival)));
  }

  /** At once: a flood of them must not wait in memory. */
  reject(rejected: readonly RejectedDelivery[]): Promise<void> {
    try {
      for (const one of rejected) this.#writer.reject(one);
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(this.#failure(error));
    }
  }

  settle(leases: readonly TargetLease[]): Promise<readonly TakenKind[]> {
    return this.#add(() => leases.map((lease) => this.#writer.settle(lease)));
  }

  /** No other receiver can hold a lease here, so none is kept. */
  release(leases: readonly TargetLease[]): Promise<void> {
    for (const lease of leases) this.#writer.addResult(lease);
    return Promise.resolve();
  }

  lease(leases: readonly TargetLease[]): Promise<readonly LeaseState[]> {
    const isOutstanding = ({ leadId, target }: TargetLease): boolean =>
      this.#writer.unsettled(leadId).includes(target);
    return Promise.resolve(leases.map((lease) => (isOutstanding(lease) ? 'leased' : 'not outstanding')));
  }

  async *unsettled(target: string): AsyncGenerator<StoredRef> {
    const wanted = this.#options.targets.includes(target);
    for (const [leadId, { seq, settled }] of wanted ? [...this.#writer.leads] : []) {
      if (!settled.includes(target)) yield { leadId, seq };
    }
    await Promise.resolve();
  }

  outstanding(): Promise<readonly Outstanding[]> {
    const ids = [...this.#writer.leads.keys()];
    const found = this.#options.targets.map((target) => ({
      target: targetLabel(target),
      leads: ids.filter((leadId) => this.#writer.unsettled(leadId).includes(target)).length,
      wanted: true,
    }));
    return Promise.resolve(found.filter(({ leads }) => leads > 0));
  }

  async *list(query: InboxQuery): AsyncGenerator<StoredDelivery> {
    yield* this.#writer.deliveries.newestFirst(query, (leadId) => this.#writer.unsettled(leadId).length > 0);
    await Promise.resolve();
  }

  async *leads({ states = ['accepted'], since, until }: LeadQuery): AsyncGenerator<StoredLead> {
    for (const [leadId, { seq, accepted }] of [...this.#writer.leads]) {
      const isWanted =
        (accepted && states.includes('accepted')) ||
        (states.includes('pending') && this.#writer.unsettled(leadId).length > 0);
      const first = isWanted ? this.#writer.deliveries.find(seq, { since, until }) : undefined;
      if (first === undefined) continue;
      yield { leadId, seq, receivedAt: first.receivedAt, source: first.source, body: first.body };
    }
    await Promise.resolve();
  }

  has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(leadIds.filter((id) => this.#writer.leads.get(id)?.accepted === true)));
  }

  droppedRepeats(leadId: string): Promise<DroppedRepeats> {
    return Promise.resolve(this.#writer.droppedRepeats(leadId));
  }

  prune(before: number): Promise<number> {
    return Promise.resolve(this.#writer.prune(before));
  }

  compact(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#group.flush();
  }

  async #add<T>(step: () => T): Promise<T> {
    const result = await this.#group.add(step);
    if (result.status === 'rejected') throw this.#failure(result.reason);
    return result.value as T;
  }

  #commit(steps: readonly Step[]): readonly PromiseSettledResult<unknown>[] {
    this.#writer.begin();
    return steps.map((step) => {
      try {
        return { status: 'fulfilled', value: step() };
      } catch (reason) {
        return { status: 'rejected', reason };
      }
    });
  }

  #failure(error: unknown): Error {
    return cannotStore(this.location, { reason: messageOf(error) }, error);
  }
}
