import { setImmediate } from 'node:timers/promises';
import { type RawLead, readCreatedAt } from '../lead/raw-lead.ts';
import { leadFilter, type LeadFilter, type LeadMatcher } from '../lead/filter.ts';
import { IdSet } from '../lead/id-set.ts';
import type { Service } from '../service/client/service.ts';
import { IncompleteError } from '../service/listing-types.ts';
import type { Unproven } from '../service/pagers/pager.ts';
import type { LeadQuery } from '../service/listing-types.ts';
import { listLeads } from '../service/listing.ts';
import {
  allClasses,
  type AuditTimes,
  classifyLead,
  clockMarginMs,
  type Finding,
  type LeadClass,
  findingClasses,
  type LeadFacts,
  unlistedClasses,
  type UnreceivedClass,
  agreeingMs,
} from './classify-lead.ts';
import type { Comparison } from './compare-payloads.ts';
import { batchSize, LeadComparer, type ReceivedSide } from './compare-leads.ts';
import type { TemporaryLead } from './temporary-leads.ts';
import type { StoredLead } from '../inbox/query-types.ts';
import { compact } from '../json/bytes.ts';
import { scannedRecord } from '../json/scanner.ts';

const unreceivedBatch = 64;

export interface AuditOptions {
  readonly service: Service;
  readonly received: ReceivedSide;
  readonly query: LeadQuery;
  /** The leads of both sides are checked here. */
  readonly filter: LeadFilter;
  /** Classes that cannot be told: the filter judges what only one side shows, or the received side lacks something. */
  readonly undecidable: readonly LeadClass[];
  readonly times: Omit<AuditTimes, 'clockAheadMs'>;
  readonly comparison: Comparison;
  /** Takes a walk that proves nothing for a complete one. */
  readonly acceptUnproven?: ((end: Unproven) => void | Promise<void>) | undefined;
  readonly onProgress: (compared: number, total: number | undefined) => void;
}

/** `byClass` has null for a class that cannot be told. */
export interface AuditCounts {
  readonly pulled: number;
  /** Received leads that match, or that are in the list. */
  readonly received: number;
  readonly matched: number;
  readonly byClass: Readonly<Record<LeadClass, number | null>>;
  /** The time at which the oldest lead was created that the service listed, ms; undefined where no lead says it. */
  readonly horizon: number | undefined;
  /** Records of the list without a usable id. */
  readonly withoutId: number;
  /** Leads on both sides whose bytes differ, while the received ones were pruned. */
  readonly notCompared: number;
  /** Received leads that the service does not list, and whose pruned bodies the filter would have to see. */
  readonly notJudged: number;
}

/** Compares what can be pulled with what was received. `close` removes the files that it may have made. */
export class Audit {
  /** The filter as it checked the service's leads, for notes about it. */
  readonly matcher: LeadMatcher;
  readonly #options: AuditOptions;
  readonly #comparer: LeadComparer;
  #undecidable: readonly LeadClass[];
  #times: AuditTimes;
  /** How far the service's clock is behind the one here, where a lead of the list shows that it is wrong, ms; otherwise 0. */
  disprovenBehindMs = 0;
  #horizon: number | undefined;
  #previousTime: number | undefined;
  #isNewestFirst = true;
  listedCount = 0;
  #withoutId = 0;
  /** Leads that the service does not list, or lists outside of the window or the filters. */
  readonly #unlisted = { count: 0, notJudged: 0 };
  #isWhole = false;
  #isUnprovenAccepted = false;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#undecidable = options.undecidable;
    this.#times = { ...options.times, clockAheadMs: 0 };
    this.#comparer = new LeadComparer({ ...options, times: () => this.#times });
    this.matcher = leadFilter(options.filter);
  }

  /** Whether the walk was complete, and not only accepted as such: what is repaired must be certain. */
  get isProven(): boolean {
    return this.#isWhole && !this.#isUnprovenAccepted;
  }

  /** In the form of `--since`. The service lists what was created then or later; undefined where no lead of it has a time. */
  get listedSince(): string | undefined {
    if (this.#horizon === undefined) return undefined;
    // Some of the oldest leads, which may share a time, may be gone.
    const next = Math.floor(this.#horizon / 1000 + 1) * 1000;
    return new Date(next).toISOString().replace('.000Z', 'Z');
  }

  /** How far the service's clock is ahead of the one here, where that decides about ages, ms; otherwise 0. */
  get clockAheadMs(): number {
    return this.#times.clockAheadMs;
  }

  get counts(): AuditCounts {
    const { counts, findings } = this.#comparer;
    const { notCompared } = counts;
    const { notJudged } = this.#unlisted;
    // A class may have leads among those that were pruned.
    const isHidden = (kind: LeadClass): boolean =>
      findings.count(kind) === 0 &&
      ((kind === 'different' && notCompared > 0) || (kind === 'extra' && notJudged > 0));
    const isKnown = (kind: LeadClass): boolean =>
      this.#isWhole && !this.#undecidable.includes(kind) && !isHidden(kind);
    const byClass = Object.fromEntries(
      allClasses.map((kind) => [kind, isKnown(kind) ? findings.count(kind) : null]),
    ) as AuditCounts['byClass'];
    return {
      ...counts,
      received: counts.matched + this.#unlisted.count,
      byClass,
      horizon: this.#horizon,
      withoutId: this.#withoutId,
      notJudged,
    };
  }

  /**
   * Walks the service's list once, looks each lead up, looks again at the end for those that were not there, and then for
   * received leads that are not in the list. Throws what `listLeads` throws; nothing is found then.
   */
  async run(): Promise<void> {
    const { service, query, onProgress } = this.#options;
    const listedIds = new IdSet();
    const acceptUnproven = (end: Unproven): Promise<void> => this.#acceptUnproven(end);
    const walk = listLeads(service, { query, seen: listedIds, prefetch: true, acceptUnproven });
    let isFirst = true;
    for await (const { leads } of walk) {
      if (isFirst) this.#useClock(walk.stats.drift ?? 0);
      isFirst = false;
      for (const batch of this.#takeListed(leads)) await this.#comparer.add(batch);
      onProgress(this.listedCount, walk.stats.total);
    }
    await this.#comparer.finish(service.signal);
    // The list shows recent leads only, and does not say since when: a received lead may be older than it reaches.
    if (this.listedCount > 0 && this.#horizon === undefined) this.#cannotDecide(unlistedClasses);
    if (!this.#undecidable.includes('extra')) await this.#findUnlistedLeads(listedIds);
    service.signal.throwIfAborted();
    this.#isWhole = true;
  }

  /** Class by class, the gravest first; none before everything was compared. May be read again. */
  async *findings(classes: readonly LeadClass[] = findingClasses): AsyncGenerator<Finding> {
    if (this.#isWhole) yield* this.#comparer.findings.findings(classes);
  }

  /**
   * Leads that are not in the inbox, as the service sent them, in batches so small that a lookup is fresh when they are sent;
   * none before everything was compared. May be read again.
   */
  async *unreceived(kind: UnreceivedClass): AsyncGenerator<readonly TemporaryLead[]> {
    if (this.#isWhole) yield* this.#comparer.unreceived[kind].batches(unreceivedBatch);
  }

  close(): Promise<void> {
    return this.#comparer.close();
  }

  async #acceptUnproven(end: Unproven): Promise<void> {
    const { acceptUnproven } = this.#options;
    if (acceptUnproven === undefined) {
      const isCut = end.reason.kind === 'page-may-be-cut';
      throw new IncompleteError(end, 'leads', isCut && this.#isNewestFirst ? this.listedSince : undefined);
    }
    await acceptUnproven(end);
    this.#isUnprovenAccepted = true;
    // A lead that was not listed may be in the part of the list that did not come.
    this.#cannotDecide(unlistedClasses);
  }

  #useClock(drift: number): void {
    if (Math.abs(drift) <= agreeingMs) return;
    const { startedAt, settledBefore, lateAfterMs } = this.#options.times;
    this.#times = {
      clockAheadMs: drift,
      startedAt: startedAt + drift,
      settledBefore: settledBefore + drift,
      lateAfterMs,
    };
  }

  /**
   * Lets the clock here decide where a listed lead was created later than it is by the service's clock, which is behind then, but
   * not later than it is here. A lead whose time is in the future by both clocks says nothing of them.
   */
  #checkClock(created: number): void {
    const { clockAheadMs } = this.#times;
    const latest = this.#options.service.clock.now() + agreeingMs;
    if (created > latest || created <= latest + clockAheadMs) return;
    this.disprovenBehindMs = -clockAheadMs;
    this.#times = { ...this.#options.times, clockAheadMs: 0 };
  }

  #cannotDecide(classes: readonly LeadClass[]): void {
    this.#undecidable = [...this.#undecidable, ...classes];
  }

  /** Notes the order and the times of listed leads, and gives those that match in batches. */
  *#takeListed(leads: readonly RawLead[]): Generator<readonly TemporaryLead[]> {
    let batch: TemporaryLead[] = [];
    for (const lead of leads) {
      const { createdAt } = lead;
      const time = readCreatedAt(createdAt);
      if (time === undefined || time > (this.#previousTime ?? Infinity)) this.#isNewestFirst = false;
      this.#previousTime = time;
      if (time !== undefined) {
        this.#horizon = Math.min(time, this.#horizon ?? time);
        this.#checkClock(time);
      }
      if (!this.matcher.matchesCreated(lead, time)) continue;
      const { id } = lead;
      if (id === undefined) this.#withoutId += 1;
      else batch.push({ id, createdAt, bytes: lead.bytes });
      if (batch.length === batchSize) {
        yield batch;
        batch = [];
      }
    }
    this.listedCount += leads.length;
    if (batch.length > 0) yield batch;
  }

  async #findUnlistedLeads(listedIds: IdSet): Promise<void> {
    const { received, filter, service } = this.#options;
    const { since } = filter;
    const { matches } = leadFilter(filter);
    let arePruned = false;
    const isDated = received.hasTimes && since !== undefined;
    const receivedSince = isDated ? since - clockMarginMs - this.#times.clockAheadMs : 0;
    for await (const seqs of received.leads.seqsSince(receivedSince)) {
      const unlisted = seqs.filter((seq) => !this.#comparer.pulledSeqs.has(seq));
      for (let start = 0; start < unlisted.length; start += batchSize) {
        const batch = unlisted.slice(start, start + batchSize);
        const leads = await received.leads.leadsBySeq(batch);
        arePruned ||= leads.length < batch.length;
        for (const lead of leads) await this.#judge(lead, matches, listedIds);
      }
      // SQLite answers within one turn of the event loop: Ctrl-C would not be noticed before the end.
      await setImmediate();
      service.signal.throwIfAborted();
    }
    if (arePruned) await this.#judgePruned(listedIds);
  }

  async #judge(stored: StoredLead, matches: LeadMatcher['matches'], listedIds: IdSet): Promise<void> {
    const { received, filter } = this.#options;
    const record = scannedBody(stored.body);
    const { createdAt } = record;
    const receivedAt = received.hasTimes ? stored.receivedAt : undefined;
    if (readCreatedAt(createdAt) === undefined && !isWithin(receivedAt, filter)) return;
    if (!matches(record)) return;
    const sides: LeadFacts['sides'] = listedIds.has(stored.leadId)
      ? { on: 'listed-outside' }
      : { on: 'inbox', isPruned: false };
    if (await this.#addUnlisted({ id: stored.leadId, createdAt, receivedAt, sides }))
      this.#unlisted.count += 1;
  }

  async #addUnlisted(lead: LeadFacts): Promise<boolean> {
    const finding = classifyLead(lead, this.#times, this.#horizon);
    if (finding !== undefined) await this.#comparer.findings.add(finding);
    return finding !== undefined;
  }

  /** Judges leads without a body, of which only the id and the time at which they came are left. */
  async #judgePruned(listedIds: IdSet): Promise<void> {
    const { received, filter, service } = this.#options;
    // The other filters need the body.
    const isJudged = filter.categories.length === 0 && filter.where.length === 0;
    for await (const leads of received.leads.prunedSince(filter.since ?? 0)) {
      for (const { leadId: id, seq, receivedAt } of leads) {
        if (this.#comparer.pulledSeqs.has(seq) || listedIds.has(id) || !isWithin(receivedAt, filter))
          continue;
        this.#unlisted[isJudged ? 'count' : 'notJudged'] += 1;
        const sides = { on: 'inbox', isPruned: true } as const;
        if (isJudged) await this.#addUnlisted({ id, createdAt: undefined, receivedAt, sides });
      }
      await setImmediate();
      service.signal.throwIfAborted();
    }
  }
}

/** A lead that does not say when it was created counts by when it came. */
const isWithin = (receivedAt: number | undefined, { since, until }: LeadFilter): boolean =>
  receivedAt === undefined || (receivedAt >= (since ?? -Infinity) && receivedAt < (until ?? Infinity));

const scannedBody = (body: Uint8Array): RawLead => scannedRecord(compact(body));
