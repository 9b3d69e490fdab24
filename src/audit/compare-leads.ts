import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Inbox } from '../inbox/inbox.ts';
import type { ReceivedLead, ReceivedLeads, StoredLead } from '../inbox/query-types.ts';
import { bufferOf, compact } from '../json/bytes.ts';
import { maxDiffNames } from '../json/payload-diff.ts';
import { scannedRecord } from '../json/scanned-record.ts';
import { leadMatcher, type LeadFilter, type LeadMatcher } from '../lead/filter.ts';
import type { IdSet } from '../lead/id-set.ts';
import { type RawLead, readCreatedAt } from '../lead/raw-lead.ts';
import type { Service } from '../service/client/service.ts';
import {
  allClasses,
  type AuditClock,
  classifyLead,
  clockMarginMs,
  type Finding,
  type LeadClass,
  type LeadFacts,
  type UnreceivedClass,
} from './classify-lead.ts';
import {
  CarriedFields,
  type Comparison,
  differingFields,
  type DifferingFields,
  noDifference,
} from './compare-payloads.ts';
import { leadSpool, type PulledLead, Spool } from './spool.ts';

export interface ReceivedSide {
  /** For messages, such as `the inbox /home/x/inbox.db`. */
  readonly name: string;
  readonly leads: ReceivedLeads;
  /** Set where leads may be stored in it. */
  readonly store?: Pick<Inbox, 'take' | 'lookUp'> | undefined;
  /** Classes that cannot be decided from this side, because only an inbox shows them. */
  readonly undecidable: readonly LeadClass[];
  readonly hasTimes: boolean;
  /** The time at which the received leads were written down, ms; undefined where that is now, or is not known. */
  readonly writtenAt?: number | undefined;
  /** Reasons of rejected deliveries, by the ids in their bodies: evidence that they came, and no more. */
  rejections(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

export interface ComparisonOptions {
  readonly service: Pick<Service, 'signal'>;
  readonly received: ReceivedSide;
  /** The leads of both sides are checked here. */
  readonly filter: LeadFilter;
  readonly comparison: Comparison;
}

interface LeadPair {
  readonly lead: PulledLead;
  readonly stored: ReceivedLead;
}

/** A lead on both sides that can be judged only at the end. */
interface DeferredLead extends Pick<LeadFacts, 'id' | 'createdAt' | 'receivedAt'>, DifferingFields {
  readonly isWaiting: boolean;
}

interface ServiceList {
  readonly ids: IdSet;
  /** The time at which its oldest lead was created, ms; undefined where no lead says it. */
  readonly horizon: number | undefined;
}

/** Leads that are looked up at once: so few that the garbage of a batch is collected before it becomes old, which costs more. */
export const batchSize = 250;

/**
 * Compares pulled leads with what was received. `add` looks a batch up and compares the leads that were received. `finish` looks
 * the others up again, since deliveries went on meanwhile; those that are still not there were not received. Then it judges the
 * differences that depend on all the pushes, or on a clock that was still in doubt. `addUnlisted` judges the other received leads.
 */
export class LeadComparer {
  readonly findings = Object.fromEntries(allClasses.map((kind) => [kind, new Spool<Finding>()])) as Readonly<
    Record<LeadClass, Spool<Finding>>
  >;
  readonly unreceived: Readonly<Record<UnreceivedClass, Spool<PulledLead>>> = {
    refused: leadSpool(),
    missing: leadSpool(),
  };
  readonly counts = {
    pulled: 0,
    matched: 0,
    notCompared: 0,
    /** Received leads that got a finding, while the service does not list them within the window and the filters. */
    unlisted: 0,
    notJudged: 0,
  };
  readonly #options: ComparisonOptions;
  /** Its times change during the walk when a listed lead shows that the service's clock is not behind, as it had seemed. */
  readonly #clock: AuditClock;
  readonly #pulledSeqs = new Set<number>();
  /** Leads whose lookup is repeated at the end: they were not received, or waiting for a target. */
  readonly #retryLeads = leadSpool();
  readonly #deferredLeads = new Spool<DeferredLead>();
  readonly #spools = [
    this.#retryLeads,
    this.#deferredLeads,
    ...Object.values(this.findings),
    ...Object.values(this.unreceived),
  ];
  /** The fields that pushes carry: only one of these can be missing from a push. */
  readonly #carriedFields = new CarriedFields();

  constructor(options: ComparisonOptions, clock: AuditClock) {
    this.#options = options;
    this.#clock = clock;
  }

  async add(leads: readonly PulledLead[]): Promise<void> {
    this.counts.pulled += leads.length;
    const remaining = await this.#compareReceived(leads, ({ isWaiting }) => !isWaiting);
    for (const lead of remaining) this.#retryLeads.add(lead);
    await this.#endBatch();
  }

  async finish(): Promise<void> {
    await this.#retryLookups();
    await this.#judgeDeferredLeads();
  }

  async #retryLookups(): Promise<void> {
    if (this.#retryLeads.count === 0) return;
    // Rejections are read first: a delivery that is stored on a retry after that is found by the lookup.
    const rejections = await this.#options.received.rejections();
    for await (const leads of this.#retryLeads.batches(batchSize)) {
      const remaining = await this.#compareReceived(leads, () => true);
      for (const lead of remaining) this.#addUnreceived(lead, rejections.get(lead.id));
      await this.#endBatch();
    }
  }

  async #judgeDeferredLeads(): Promise<void> {
    const isCarried = (path: string): boolean => this.#carriedFields.has(path);
    for await (const leads of this.#deferredLeads.batches(batchSize)) {
      for (const { differing, absent, ...lead } of leads)
        this.#judgeReceived(lead, [...differing, ...absent.filter(isCarried)]);
      await this.#endBatch();
    }
  }

  /**
   * Judges received leads that the service does not list, or lists outside of the window or the filters. Those with a body are read
   * first; those whose body was pruned follow, by id and time of receipt alone.
   */
  async addUnlisted(list: ServiceList): Promise<void> {
    const { received, filter } = this.#options;
    const { matches } = leadMatcher(filter);
    let hasPruned = false;
    const earliestReceipt = received.hasTimes ? this.#windowStart - clockMarginMs : 0;
    for await (const seqs of received.leads.seqsSince(earliestReceipt)) {
      const unlisted = seqs.filter((seq) => !this.#pulledSeqs.has(seq));
      for (let start = 0; start < unlisted.length; start += batchSize) {
        const batch = unlisted.slice(start, start + batchSize);
        const leads = await received.leads.leadsBySeq(batch);
        // The store leaves out leads whose body was pruned.
        hasPruned ||= leads.length < batch.length;
        for (const lead of leads) this.#judgeUnlisted(lead, matches, list);
      }
      await this.#endBatch();
    }
    if (hasPruned) await this.#addPruned(list);
  }

  async #addPruned({ ids, horizon }: ServiceList): Promise<void> {
    const { received, filter } = this.#options;
    const needsBody = filter.categories.length > 0 || filter.where.length > 0;
    for await (const leads of received.leads.prunedSince(this.#windowStart)) {
      for (const { leadId: id, seq, receivedAt } of leads) {
        const isListed = this.#pulledSeqs.has(seq) || ids.has(id);
        if (isListed || !this.#mayBeInWindow(receivedAt)) continue;
        const sides = { on: 'inbox', isPruned: true } as const;
        if (needsBody) this.counts.notJudged += 1;
        else this.#addFinding({ id, createdAt: undefined, receivedAt, sides }, horizon);
      }
      await this.#endBatch();
    }
  }

  async close(): Promise<void> {
    for (const spool of this.#spools) await spool.close();
  }

  /** SQLite answers within one turn of the event loop: without a pause, Ctrl-C would not be noticed before the end. */
  async #endBatch(): Promise<void> {
    for (const spool of this.#spools) await spool.flush();
    await setImmediate();
    this.#options.service.signal.throwIfAborted();
  }

  /** Compares the leads that were received, as far as `isSettled`, and returns the others. */
  async #compareReceived(
    leads: readonly PulledLead[],
    isSettled: (stored: ReceivedLead) => boolean,
  ): Promise<readonly PulledLead[]> {
    const rows = await this.#options.received.leads.lookUp(leads.map(({ id }) => id));
    const remaining: PulledLead[] = [];
    const unequal: LeadPair[] = [];
    for (const [i, lead] of leads.entries()) {
      const stored = rows[i];
      if (stored === undefined || !isSettled(stored)) {
        remaining.push(lead);
        continue;
      }
      this.counts.matched += 1;
      this.#pulledSeqs.add(stored.seq);
      // An erased lead has nothing that could be compared.
      const hasContent = stored.digest !== undefined;
      const received = hasContent ? this.#recordOfDigest(lead.bytes, stored.digest) : undefined;
      if (received !== undefined) this.#carriedFields.add(received);
      if (hasContent && received === undefined) unequal.push({ lead, stored });
      else this.#judgePair({ lead, stored }, noDifference);
    }
    if (unequal.length > 0) await this.#compareBytes(unequal);
    return remaining;
  }

  async #compareBytes(pairs: readonly LeadPair[]): Promise<void> {
    const { comparison, received } = this.#options;
    const leads = await received.leads.leadsBySeq(pairs.map(({ stored }) => stored.seq));
    const bodies = new Map(leads.map(({ seq, body }) => [seq, body]));
    for (const pair of pairs) {
      const body = bodies.get(pair.stored.seq);
      if (body === undefined) {
        this.counts.notCompared += 1;
        this.#judgePair(pair, noDifference);
        continue;
      }
      const pushed = compact(body);
      this.#carriedFields.add(pushed);
      this.#judgePair(pair, differingFields(pair.lead.bytes, pushed, comparison));
    }
  }

  /** The record as it was pulled, or without the delivery status, which is never compared; undefined if neither was received. */
  #recordOfDigest(pulled: Uint8Array, digest: string): Buffer | undefined {
    const record = bufferOf(pulled);
    const { statusField } = this.#options.comparison;
    const candidates = [statusField.without(record), record];
    return candidates.find((bytes) => hash('sha256', bytes, 'hex') === digest);
  }

  #judgePair({ lead: { id, createdAt }, stored }: LeadPair, fields: DifferingFields): void {
    const receivedAt = this.#options.received.hasTimes ? stored.receivedAt : undefined;
    const lead = { id, createdAt, receivedAt, isWaiting: stored.isWaiting };
    const mayClockChange = this.#clock.times.clockAheadMs < 0;
    if (fields.absent.length > 0 || mayClockChange) this.#deferredLeads.add({ ...lead, ...fields });
    else this.#judgeReceived(lead, fields.differing);
  }

  #judgeReceived(
    { id, createdAt, receivedAt, isWaiting }: Omit<DeferredLead, keyof DifferingFields>,
    fields: readonly string[],
  ): void {
    const differing = fields.slice(0, maxDiffNames);
    this.#addFinding({ id, createdAt, receivedAt, sides: { on: 'both', differing, isWaiting } });
  }

  #addUnreceived(lead: PulledLead, rejection: string | undefined): void {
    const { id, createdAt } = lead;
    const kind = this.#addFinding({ id, createdAt, sides: { on: 'service', rejection } });
    if (kind === 'missing' || kind === 'refused') this.unreceived[kind].add(lead);
  }

  #judgeUnlisted(stored: StoredLead, matches: LeadMatcher['matches'], { ids, horizon }: ServiceList): void {
    const id = stored.leadId;
    const record: RawLead = scannedRecord(compact(stored.body));
    const { createdAt } = record;
    const receivedAt = this.#options.received.hasTimes ? stored.receivedAt : undefined;
    // A lead that does not say when it was created counts by when it came.
    if (readCreatedAt(createdAt) === undefined && !this.#mayBeInWindow(receivedAt)) return;
    if (!matches(record)) return;
    const sides: LeadFacts['sides'] = ids.has(id)
      ? { on: 'listed-outside' }
      : { on: 'inbox', isPruned: false };
    this.#addFinding({ id, createdAt, receivedAt, sides }, horizon);
  }

  /** Returns the class of the finding; undefined for a lead that is in order. */
  #addFinding(lead: LeadFacts, horizon?: number): LeadClass | undefined {
    const finding = classifyLead(lead, this.#clock.times, horizon);
    if (finding === undefined) return undefined;
    this.findings[finding.class].add(finding);
    if (lead.sides.on === 'inbox' || lead.sides.on === 'listed-outside') this.counts.unlisted += 1;
    return finding.class;
  }

  /** The start of the window by the receiver's clock. */
  get #windowStart(): number {
    return (this.#options.filter.since ?? 0) - this.#clock.times.clockAheadMs;
  }

  #mayBeInWindow(receivedAt: number | undefined): boolean {
    const { until = Infinity } = this.#options.filter;
    if (receivedAt === undefined) return true;
    return receivedAt >= this.#windowStart && receivedAt < until - this.#clock.times.clockAheadMs;
  }
}
