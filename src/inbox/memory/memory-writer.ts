import { hash, randomBytes } from 'node:crypto';
import {
  ComparisonBudget,
  decideVerdict,
  verdictOnceDone,
  type KnownLead,
  replayedNonce,
  type TakenKind,
  type TakenVerdict,
} from '../decide-verdict.ts';
import {
  contentOf,
  type Group,
  groupByDelivery,
  rejectedContentOf,
  summaryOf,
  erasedIdDigest,
  memberIds,
  splitErased,
} from '../delivery-record.ts';
import type { ReceivedLead } from '../query-types.ts';
import type {
  Arrival,
  DroppedRepeats,
  ErasedCounts,
  ErasedLead,
  Erasure,
  LeaseAnswer,
  RejectedDelivery,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { maxRepeatsKept, noncesRemovedPerAdded, type StoreOptions } from '../store-options.ts';
import { storedAnswer } from '../target-answer.ts';
import { targetLabel } from '../target-name.ts';
import { DeliveryLog } from './delivery-log.ts';
import { OutstandingWork } from './target-work.ts';

interface Lead {
  /** Number of its first delivery. */
  readonly seq: number;
  readonly firstAt: number;
  attempts: number;
  accepted: boolean;
  /** Targets that have had it. */
  done: readonly string[];
  /** SHA-256 of its first payload, once that was pruned. */
  digest: string | undefined;
  /** Most leads come once. */
  repeats: Repeats | undefined;
}

/** Shared by the leads that no target has had: most stay so, where no target is wanted. */
const none: readonly string[] = [];

/** Writes what `Inbox` names. No other receiver can hold a lease here. */
export class MemoryWriter {
  readonly deliveries = new DeliveryLog();
  readonly leads = new Map<string, Lead>();
  readonly erased = new ErasedLeads();
  readonly outstanding: OutstandingWork;
  readonly #options: Pick<StoreOptions, 'targets' | 'redact' | 'clock'>;
  readonly #nonces: MemoryNonces;
  readonly #comparison = new ComparisonBudget();

  constructor(options: StoreOptions) {
    this.#options = options;
    this.outstanding = new OutstandingWork(options.leaseMs);
    this.#nonces = new MemoryNonces(options.nonceLifetimeMs);
  }

  /** A batch begins. */
  begin(): void {
    this.#comparison.reset();
  }

  take(arrivals: readonly Arrival[]): TakeResult[] {
    const groups = groupByDelivery(arrivals);
    const [first] = groups;
    return first !== undefined && groups.length === 1
      ? this.#takeDelivery(first)
      : groups.flatMap((group) => this.#takeDelivery(group));
  }

  reject({ delivery, leadId, rejection }: RejectedDelivery): void {
    if (this.erased.isIn({ delivery, leadId })) return;
    this.#addRejected({ delivery, leadId }, rejection);
  }

  settle(lease: TargetLease): TakenKind {
    const { leadId, seq } = lease;
    // Erased while a target was handed the lead.
    if (this.erased.find(leadId) !== undefined) return 'duplicate';
    this.addResult(lease);
    const lead = this.leads.get(leadId);
    if (lead === undefined) throw new Error('there is no lead of this id');
    this.#setDone(lead, lease);
    const undone = this.#options.targets.filter((wanted) => this.outstanding.find(leadId, wanted));
    const verdict = verdictOnceDone(undone, lead);
    if (verdict === 'pending') return verdict;
    lead.accepted = true;
    this.deliveries.conclude(seq, verdict);
    return verdict;
  }

  markDoneAtNewAddress(lease: TargetLease): undefined {
    this.addResult(lease);
    const lead = this.leads.get(lease.leadId);
    if (lead !== undefined) this.#setDone(lead, lease);
  }

  release(lease: TargetLease): void {
    this.addResult(lease);
    this.outstanding.release(lease);
  }

  addResult({ seq, target, result }: TargetLease): void {
    if (result === undefined) return;
    const stored = { ...result, answer: storedAnswer(result, target), target: targetLabel(target) };
    this.deliveries.addResult(seq, stored);
  }

  #setDone(lead: Lead, { leadId, target }: TargetLease): void {
    if (!lead.done.includes(target)) lead.done = [...lead.done, target];
    this.outstanding.remove(leadId, target);
  }

  /** Numbers of the deliveries of the lead that were taken in, removed ones among them. */
  takenOf(leadId: string): readonly number[] {
    const lead = this.leads.get(leadId);
    return lead === undefined ? [] : [lead.seq, ...(lead.repeats?.kept ?? [])];
  }

  receivedLead(leadId: string): ReceivedLead | undefined {
    const lead = this.leads.get(leadId);
    if (lead === undefined) return this.#erasedLead(leadId);
    const first = this.deliveries.leadOf(lead.seq);
    const digest = first === undefined ? (lead.digest ?? '') : digestOf(first);
    return {
      seq: lead.seq,
      receivedAt: lead.firstAt,
      digest: Buffer.from(digest, 'base64').toString('hex'),
      isPending: !lead.accepted || this.outstanding.has(leadId),
    };
  }

  lease({ leadId, target, isQuestion }: TargetLease): LeaseAnswer {
    const lead = this.leads.get(leadId);
    if (lead?.done.includes(target) === true) return { state: 'settled', tries: 0 };
    const work = this.outstanding.find(leadId, target);
    if (lead === undefined || work === undefined) return { state: 'not outstanding', tries: 0 };
    const { clock } = this.#options;
    if (isQuestion !== true) this.outstanding.grant(work.lead, lead.firstAt, target, clock.now());
    return { state: 'leased', tries: work.tries };
  }

  beginAnew(leadIds: readonly string[]): number {
    const now = this.#options.clock.now();
    return leadIds.filter((leadId) => this.outstanding.beginAnew(leadId, now)).length;
  }

  /** `Inbox.erase`. */
  erase({ leadIds, rejected }: Erasure): ErasedCounts {
    const ids = new Set(leadIds);
    const found = this.deliveries.summaries(
      ({ seq, leadId, reason }) =>
        (leadId !== undefined && ids.has(leadId)) || (reason !== undefined && rejected.includes(seq)),
    );
    const known = new Set<string>();
    let leads = 0;
    let pending = 0;
    for (const leadId of ids) {
      const lead = this.leads.get(leadId);
      if (lead !== undefined) leads += 1;
      if (this.outstanding.has(leadId)) pending += 1;
      // Of an id that was only rejected, too, nothing is to be stored any more.
      const first = found.find((one) => one.leadId === leadId);
      const kept = lead ?? (first && { seq: first.seq, firstAt: first.receivedAt, attempts: 0 });
      if (kept === undefined) continue;
      const { seq, firstAt, attempts } = kept;
      this.leads.delete(leadId);
      this.outstanding.remove(leadId);
      this.erased.add(leadId, { seq, firstAt, attempts });
      known.add(leadId);
    }
    this.deliveries.erase(new Set(found.map(({ seq }) => seq)), known);
    const refused = found.filter(({ reason }) => reason !== undefined).length;
    return { leads, deliveries: found.length - refused, rejected: refused, pending };
  }

  /** The numbers of the leads that were fetched and never pushed. */
  backfilledSeqs(): number[] {
    const pushed = new Set<string | undefined>();
    const fetched: { seq: number; leadId: string | undefined }[] = [];
    for (const { seq, leadId, verdict, source } of this.deliveries.newestFirst({}, this.outstanding)) {
      if (verdict === 'rejected') continue;
      if (source === 'push') pushed.add(leadId);
      else if (leadId !== undefined && this.leads.get(leadId)?.seq === seq) fetched.push({ seq, leadId });
    }
    return fetched.filter(({ leadId }) => !pushed.has(leadId)).map(({ seq }) => seq);
  }

  droppedRepeats(leadId: string): DroppedRepeats {
    return this.leads.get(leadId)?.repeats?.dropped ?? { differing: 0, same: 0 };
  }

  /** Returns the number of dropped deliveries. */
  prune(before: number): number {
    let dropped = 0;
    const dead = new Set<string>();
    for (const { seq, leadId } of this.deliveries.receivedBefore(before)) {
      const lead = leadId === undefined ? undefined : this.leads.get(leadId);
      if (leadId !== undefined && this.outstanding.has(leadId, (work) => !work.dead)) continue;
      if (lead?.seq === seq) lead.digest = digestOf(this.deliveries.leadOf(seq) ?? new Uint8Array());
      if (leadId !== undefined && this.outstanding.has(leadId)) dead.add(leadId);
      this.deliveries.remove(seq);
      dropped += 1;
    }
    if (dead.size === 0) return dropped;
    // Of what a newer delivery is kept, that one can still be handed on.
    for (const { leadId = '', verdict } of this.deliveries.summaries(() => true)) {
      if (verdict !== 'rejected') dead.delete(leadId);
    }
    for (const leadId of dead) this.outstanding.remove(leadId);
    return dropped;
  }

  #takeDelivery(group: Group): TakeResult[] {
    const [first] = group;
    const { nonce, delivery } = first;
    const split =
      this.erased.size === 0 ? undefined : splitErased(group, (leadId) => this.erased.find(leadId));
    const { clock } = this.#options;
    if (nonce !== undefined && !this.#nonces.bind(nonce, digestOf(delivery.body), clock.steady())) {
      const rejected = replayedNonce();
      if (split === undefined) this.#addRejected(first, rejected);
      return group.map(() => rejected);
    }
    return split === undefined ? this.#takeLeads(group) : split.results(this.#takeLeads(split.rest));
  }

  /** Of one delivery. */
  #takeLeads(group: readonly Arrival[]): TakeResult[] {
    const [first] = group;
    if (first === undefined) return [];
    const { delivery } = first;
    const { redact } = this.#options;
    const content = contentOf(delivery, redact);
    const bytes = this.deliveries.store(content);
    const firstSeq = group.length > 1 ? this.deliveries.lastSeq + 1 : undefined;
    return group.map((arrival) => {
      const lead = this.leads.get(arrival.leadId);
      const known = lead === undefined ? undefined : this.#knownLead(lead, arrival);
      const verdict = decideVerdict(known, arrival, this.#options.targets);
      const seq = this.deliveries.add(summaryOf(arrival, verdict, content.path, firstSeq), bytes);
      this.#count(lead, verdict, seq);
      if (verdict.kind === 'pending') this.#grant(verdict, lead?.seq ?? seq);
      return { seq, ...verdict };
    });
  }

  /** `seq`: of the lead's first delivery. */
  #grant({ leadId, firstAt, targets }: Extract<TakenVerdict, { kind: 'pending' }>, seq: number): void {
    const now = this.#options.clock.now();
    for (const { name } of targets) this.outstanding.grant({ leadId, seq }, firstAt, name, now);
  }

  #erasedLead(leadId: string): ReceivedLead | undefined {
    const erased = this.erased.find(leadId);
    return erased && { seq: erased.seq, receivedAt: erased.firstAt, digest: undefined, isPending: false };
  }

  #addRejected(rejected: Parameters<typeof summaryOf>[0], verdict: RejectedDelivery['rejection']): void {
    const content = rejectedContentOf(rejected.delivery, this.#options.redact);
    this.deliveries.add(summaryOf(rejected, verdict, content.path), this.deliveries.storeRejected(content));
  }

  /** Keeps what came of one more delivery of the lead; undefined: of a new one. */
  #count(
    lead: Lead | undefined,
    { leadId, kind, firstAt, attempt, differs }: TakenVerdict,
    seq: number,
  ): void {
    const accepted = kind === 'accepted';
    if (lead === undefined) {
      this.leads.set(leadId, {
        seq,
        firstAt,
        attempts: 1,
        accepted,
        done: none,
        digest: undefined,
        repeats: undefined,
      });
      return;
    }
    lead.attempts = attempt;
    lead.accepted ||= accepted;
    lead.repeats ??= new Repeats();
    const dropped = lead.repeats.add(seq, differs !== undefined);
    if (dropped !== undefined) this.deliveries.remove(dropped);
  }

  #knownLead(
    { seq, firstAt, attempts, accepted, done, digest }: Lead,
    { delivery, leadId, place }: Arrival,
  ): KnownLead {
    const payload = leadBytes(delivery.body, place);
    const first = this.deliveries.leadOf(seq);
    const isSame = first === undefined ? digestOf(payload) === digest : Buffer.compare(first, payload) === 0;
    const firstBody = isSame ? 'same' : this.#comparison.spend(first, payload);
    const tries = new Map(this.outstanding.of(leadId).map((work) => [work.target, work.tries]));
    return { firstAt, attempts, accepted, firstBody, done, leasedElsewhere: none, tries };
  }
}

const digestOf = (body: Uint8Array): string => hash('sha256', body, 'base64');

interface BoundNonce {
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** The replay guard of a store in memory: each nonce is good for one body, for as long as it could verify. */
class MemoryNonces {
  /** By nonce, first to expire first. */
  readonly #bound = new Map<string, BoundNonce>();
  readonly #lifetimeMs: number;

  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** Binds the nonce to the body's digest; false when it is bound to another one. */
  bind(nonce: string, digest: string, now: number): boolean {
    const bound = this.#bound.get(nonce);
    if (bound !== undefined && bound.expires > now) return bound.digest === digest;
    this.#bound.delete(nonce);
    this.#bound.set(nonce, { digest, expires: now + this.#lifetimeMs });
    this.#removeExpired(now);
    return true;
  }

  /** Only some of them at a time, so that a great many are no pause. */
  #removeExpired(now: number): void {
    let left = noncesRemovedPerAdded;
    for (const [nonce, { expires }] of this.#bound) {
      if (left === 0 || expires > now) return;
      this.#bound.delete(nonce);
      left -= 1;
    }
  }
}

/** The repeats of one lead: the newest are kept, the others counted. */
class Repeats {
  readonly #differing: number[] = [];
  readonly #same: number[] = [];
  #droppedDiffering = 0;
  #droppedSame = 0;

  get kept(): readonly number[] {
    return [...this.#differing, ...this.#same];
  }

  get dropped(): DroppedRepeats {
    return { differing: this.#droppedDiffering, same: this.#droppedSame };
  }

  /** Returns the number of the delivery that is to be dropped. `differs`: with another payload than the first one. */
  add(seq: number, differs: boolean): number | undefined {
    const kept = differs ? this.#differing : this.#same;
    kept.push(seq);
    if (kept.length <= maxRepeatsKept) return undefined;
    if (differs) this.#droppedDiffering += 1;
    else this.#droppedSame += 1;
    return kept.shift();
  }
}

/** The leads that were erased from a store in memory. */
class ErasedLeads {
  readonly #key = randomBytes(32);
  readonly #leads = new Map<string, ErasedLead>();

  get size(): number {
    return this.#leads.size;
  }

  /** What was kept at an earlier time stays. */
  add(leadId: string, lead: ErasedLead): void {
    const digest = this.#digest(leadId);
    if (!this.#leads.has(digest)) this.#leads.set(digest, lead);
  }

  find(leadId: string): ErasedLead | undefined {
    return this.#leads.size === 0 ? undefined : this.#leads.get(this.#digest(leadId));
  }

  /** Whether a rejected delivery, of which nobody knows whether it is authentic, holds a lead that was erased. */
  isIn({ leadId, delivery }: Pick<RejectedDelivery, 'leadId' | 'delivery'>): boolean {
    if (this.#leads.size === 0) return false;
    const ids = leadId === undefined ? memberIds(delivery.body) : [leadId];
    return ids.some((id) => this.find(id) !== undefined);
  }

  #digest(leadId: string): string {
    return erasedIdDigest(this.#key, leadId).toString('base64');
  }
}
