import { messageOf } from '../../errors.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import type { TakenKind } from '../decide-verdict.ts';
import type { InboxChanges, InboxExtent, PrunedLead, ReceivedLead, SearchStep } from '../inbox-queries.ts';
import {
  type Arrival,
  type Backlog,
  cannotStore,
  type DroppedRepeats,
  type Erased,
  type Erasure,
  type Inbox,
  type InboxQuery,
  sumBacklog,
  type LeadQuery,
  type LeadState,
  type LeaseState,
  type Outstanding,
  type RejectedDelivery,
  type StoredDelivery,
  type StoredLead,
  type StoredRef,
  type TakeResult,
  type TargetLease,
} from '../inbox.ts';
import { leadBytes } from '../lead-bytes.ts';
import type { StoreOptions } from '../store-options.ts';
import { targetLabel } from '../target-name.ts';
import { MemoryWriter } from './memory-writer.ts';

/** Deliveries that one step of a search gives, and bytes of their bodies, unless a single one has more. */
const stepRows = 200;
const stepBytes = 1024 * 1024;

/** Answers what `InboxChanges` asks, of a store in memory. */
class MemoryChanges implements InboxChanges {
  readonly #writer: Pick<MemoryWriter, 'deliveries' | 'erased' | 'unsettled'>;

  constructor(writer: Pick<MemoryWriter, 'deliveries' | 'erased' | 'unsettled'>) {
    this.#writer = writer;
  }

  changeMark(): Promise<string> {
    return Promise.resolve(String(this.#writer.deliveries.changes));
  }

  extent(): Promise<InboxExtent> {
    const { deliveries, erased } = this.#writer;
    return Promise.resolve({
      newestSeq: deliveries.lastSeq,
      oldestSeq: deliveries.oldestSeq,
      erased: erased.size,
    });
  }

  outcomeMarks(seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return Promise.resolve(this.#writer.deliveries.outcomeMarks(seqs));
  }

  /** Everything is a candidate. */
  async *search(_text: string, query: InboxQuery): AsyncGenerator<SearchStep> {
    const isOutstanding = (leadId: string): boolean => this.#writer.unsettled(leadId).length > 0;
    let candidates: SearchStep['candidates'][number][] = [];
    let bytes = 0;
    for (const delivery of this.#writer.deliveries.newestFirst(query, isOutstanding)) {
      candidates.push(delivery);
      bytes += delivery.body.length;
      if (candidates.length < stepRows && bytes < stepBytes) continue;
      yield { candidates, looked: candidates.length };
      [candidates, bytes] = [[], 0];
    }
    yield { candidates, looked: candidates.length };
    await Promise.resolve();
  }
}

/** A part of a batch; what it returns is the caller's result. */
type Step = () => unknown;

/** `:memory:`: what this process received, lost with it. The verdicts of the database without its cost. */
export class MemoryInbox extends MemoryChanges implements Inbox {
  readonly location: string;
  readonly #options: Pick<StoreOptions, 'targets' | 'onCommit'>;
  readonly #writer: MemoryWriter;
  /**
   * Nothing has to be made durable, but answers that leave together wake their readers once: one by one, each would
   * cost more than all else that is done for its delivery.
   */
  readonly #group = new GroupCommit<Step, PromiseSettledResult<unknown>>((steps) => this.#commit(steps));

  constructor(options: StoreOptions) {
    const writer = new MemoryWriter(options);
    super(writer);
    this.location = options.location;
    this.#options = options;
    this.#writer = writer;
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add(() => this.#writer.take(arrivals));
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

  /** Every target is one that this receiver wants. */
  settleMoved(leases: readonly TargetLease[]): Promise<readonly undefined[]> {
    return this.#add(() => leases.map((lease) => this.#writer.settleMoved(lease)));
  }

  /** No other receiver can hold a lease here, so none is kept. */
  release(leases: readonly TargetLease[]): Promise<void> {
    for (const lease of leases) this.#writer.addResult(lease);
    return Promise.resolve();
  }

  lease(leases: readonly TargetLease[]): Promise<readonly LeaseState[]> {
    const stateOf = ({ leadId, target }: TargetLease): LeaseState => {
      if (this.#writer.unsettled(leadId).includes(target)) return 'leased';
      return this.#writer.leads.get(leadId)?.settled.includes(target) === true
        ? 'settled'
        : 'not outstanding';
    };
    return Promise.resolve(leases.map(stateOf));
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
      wantedElsewhere: false,
    }));
    return Promise.resolve(found.filter(({ leads }) => leads > 0));
  }

  checkWritable(): Promise<void> {
    return Promise.resolve();
  }

  backlog(): Promise<readonly Backlog[]> {
    return Promise.resolve(sumBacklog(this.#outstandingLeads()));
  }

  /** Each lead once for each target that lacks it. */
  *#outstandingLeads(): Generator<Backlog> {
    for (const [leadId, { firstAt }] of this.#writer.leads) {
      for (const target of this.#writer.unsettled(leadId)) {
        yield { target: targetLabel(target), leads: 1, oldestAt: firstAt };
      }
    }
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
      const { receivedAt, source, body, place } = first;
      yield { leadId, seq, receivedAt, source, body: leadBytes(body, place) };
    }
    await Promise.resolve();
  }

  has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(leadIds.filter((id) => this.#stateOf(id) === 'accepted')));
  }

  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return Promise.resolve(leadIds.map((leadId) => this.#writer.receivedLead(leadId)));
  }

  async *seqsSince(since: number): AsyncGenerator<readonly number[]> {
    const leads = [...this.#writer.leads.values()].filter(({ firstAt }) => firstAt >= since);
    yield leads.map(({ seq }) => seq);
    await Promise.resolve();
  }

  async *backfilledSeqs(from: number): AsyncGenerator<readonly number[]> {
    yield this.#writer.backfilledSeqs().filter((seq) => seq >= from);
    await Promise.resolve();
  }

  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    const found = seqs.flatMap((seq) => this.#writer.deliveries.find(seq, {}) ?? []);
    return Promise.resolve(
      found.map(({ seq, leadId = '', receivedAt, source, body, place }) => ({
        seq,
        leadId,
        receivedAt,
        source,
        body: leadBytes(body, place),
      })),
    );
  }

  async *prunedSince(since: number): AsyncGenerator<readonly PrunedLead[]> {
    yield [...this.#writer.leads].flatMap(([leadId, { seq, firstAt: receivedAt }]) =>
      receivedAt >= since && this.#writer.deliveries.find(seq, {}) === undefined
        ? [{ leadId, seq, receivedAt }]
        : [],
    );
    await Promise.resolve();
  }

  states(leadIds: readonly string[]): Promise<ReadonlyMap<string, LeadState>> {
    const found = new Map<string, LeadState>();
    for (const leadId of leadIds) {
      const state = this.#stateOf(leadId);
      if (state !== undefined) found.set(leadId, state);
    }
    return Promise.resolve(found);
  }

  droppedRepeats(leadId: string): Promise<DroppedRepeats> {
    return Promise.resolve(this.#writer.droppedRepeats(leadId));
  }

  prune(before: number): Promise<number> {
    return Promise.resolve(this.#writer.prune(before));
  }

  async erase(erasure: Erasure): Promise<Erased> {
    const counts = await this.#add(() => this.#writer.erase(erasure));
    return { ...counts, remains: undefined, outOfReach: [] };
  }

  compact(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#group.flush();
  }

  #stateOf(leadId: string): LeadState | undefined {
    const lead = this.#writer.leads.get(leadId);
    if (lead === undefined) return this.#writer.erased.find(leadId) && 'accepted';
    return lead.accepted ? 'accepted' : 'pending';
  }

  async #add<T>(step: () => T): Promise<T> {
    const result = await this.#group.add(step);
    if (result.status === 'rejected') throw this.#failure(result.reason);
    return result.value as T;
  }

  #commit(steps: readonly Step[]): readonly PromiseSettledResult<unknown>[] {
    this.#writer.begin();
    this.#options.onCommit?.(steps.length);
    return steps.map((step) => {
      try {
        return { status: 'fulfilled', value: step() };
      } catch (reason) {
        return { status: 'rejected', reason };
      }
    });
  }

  #failure(error: unknown): Error {
    return cannotStore(this.location, { kind: 'store-other-fault', detail: messageOf(error) }, error);
  }
}
