import { messageOf } from '../../errors.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import { cannotStore } from '../cannot-store-error.ts';
import type { TakenKind } from '../decide.ts';
import type {
  Arrival,
  Inbox,
  InboxQuery,
  RejectedDelivery,
  StoredDelivery,
  StoredLead,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { MemoryWriter } from './memory-writer.ts';

/** A part of a batch; what it returns is the caller's result. */
type Step = (now: number) => unknown;

/** `:memory:`: what this process received, lost with it. The verdicts of the database without its cost. */
export class MemoryInbox implements Inbox {
  readonly location: string;
  readonly #options: Pick<StoreOptions, 'targets' | 'clock'>;
  readonly #writer: MemoryWriter;
  /**
   * Nothing has to be made durable, but answers that leave together wake their readers once: one by one, each would
   * cost more than all else that is done for its delivery.
   */
  readonly #group = new GroupCommit<Step, unknown>((steps) => this.#commit(steps));

  constructor(options: StoreOptions) {
    this.location = options.location;
    this.#options = options;
    this.#writer = new MemoryWriter(options);
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add((now) => arrivals.map((arrival) => this.#writer.take(arrival, now)));
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
  release(): Promise<void> {
    return Promise.resolve();
  }

  async *unsettled(target: string): AsyncGenerator<StoredRef> {
    const wanted = this.#options.targets.includes(target);
    for (const [leadId, { seq, settled }] of wanted ? [...this.#writer.leads] : []) {
      if (!settled.includes(target)) yield { leadId, seq };
    }
    await Promise.resolve();
  }

  async *list(query: InboxQuery): AsyncGenerator<StoredDelivery> {
    yield* this.#writer.deliveries.newestFirst(query);
    await Promise.resolve();
  }

  async *leads(query: Pick<InboxQuery, 'since' | 'until'>): AsyncGenerator<StoredLead> {
    for (const [leadId, { seq, accepted }] of [...this.#writer.leads]) {
      const first = accepted ? this.#writer.deliveries.find(seq, query) : undefined;
      if (first === undefined) continue;
      yield { leadId, seq, receivedAt: first.receivedAt, source: first.source, body: first.body };
    }
    await Promise.resolve();
  }

  has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(leadIds.filter((id) => this.#writer.leads.get(id)?.accepted === true)));
  }

  prune(before: number): Promise<number> {
    return Promise.resolve(this.#writer.prune(before));
  }

  close(): Promise<void> {
    return this.#group.flush();
  }

  #add<T>(step: (now: number) => T): Promise<T> {
    return this.#group.add(step) as Promise<T>;
  }

  #commit(steps: readonly Step[]): readonly unknown[] {
    const now = this.#options.clock.now();
    try {
      return steps.map((step) => step(now));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): Error {
    return cannotStore(this.location, { reason: messageOf(error) }, error);
  }
}
