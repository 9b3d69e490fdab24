import { type RawLead, readCreatedAt } from '../lead/raw-lead.ts';
import { leadMatcher, type LeadMatcher } from '../lead/filter.ts';
import { IdSet } from '../lead/id-set.ts';
import type { Service } from '../service/client/service.ts';
import { IncompleteError, type LeadQuery } from '../service/listing-types.ts';
import type { Unproven } from '../service/pagers/pager.ts';
import { listLeads } from '../service/listing.ts';
import {
  allClasses,
  AuditClock,
  type AuditTimes,
  type Finding,
  type LeadClass,
  findingClasses,
  unlistedClasses,
  type UnreceivedClass,
} from './classify-lead.ts';
import { batchSize, type ComparisonOptions, LeadComparer } from './compare-leads.ts';
import type { PulledLead } from './spool.ts';

const unreceivedBatch = 64;

export interface AuditOptions extends ComparisonOptions {
  readonly service: Service;
  readonly query: LeadQuery;
  /** Classes that cannot be told: the filter judges what only one side shows, or the received side lacks something. */
  readonly undecidable: readonly LeadClass[];
  readonly times: Omit<AuditTimes, 'clockAheadMs'>;
  /** Takes a walk that proves nothing for a complete one. */
  readonly acceptUnproven?: ((end: Unproven) => void | Promise<void>) | undefined;
  readonly onProgress: (compared: number, total: number | undefined) => void;
}

export type AuditCounts = Audit['counts'];

/**
 * Compares what can be pulled with what was received. `run` walks the service's list once and compares each lead, and looks then
 * for received leads that the list does not have. `findings`, `unreceived` and `counts` give the result; until the walk was whole,
 * there are no findings, and no class is known. `close` removes the temporary files.
 */
export class Audit {
  /** The filter as it checked the service's leads, for notes about it. */
  readonly matcher: LeadMatcher;
  readonly clock: AuditClock;
  readonly #options: AuditOptions;
  readonly #comparer: LeadComparer;
  listedCount = 0;
  #withoutId = 0;
  #horizon: number | undefined;
  /** Whether each lead so far has a time, and none is later than that of the lead before it. */
  #isNewestFirst = true;
  #previousTime: number | undefined;
  #undecidable: readonly LeadClass[];
  #isWhole = false;
  #isUnprovenAccepted = false;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#undecidable = options.undecidable;
    this.clock = new AuditClock(options.times);
    this.#comparer = new LeadComparer(options, this.clock);
    this.matcher = leadMatcher(options.filter);
  }

  /** Whether the walk was complete, and not only accepted as such: what is repaired must be certain. */
  get isProven(): boolean {
    return this.#isWhole && !this.#isUnprovenAccepted;
  }

  /** In the form of `--since`. The service lists what was created then or later; undefined where no lead of it has a time. */
  get listedSince(): string | undefined {
    if (this.#horizon === undefined) return undefined;
    // Some of the oldest leads, which may share a second, may be gone.
    const nextSecond = Math.floor(this.#horizon / 1000) + 1;
    return new Date(nextSecond * 1000).toISOString().replace('.000Z', 'Z');
  }

  get counts() {
    const { counts, findings } = this.#comparer;
    const { notCompared, notJudged } = counts;
    const prunedOf: Partial<Record<LeadClass, number>> = { different: notCompared, extra: notJudged };
    // A class of which nothing was found may have leads among the pruned ones.
    const isHidden = (kind: LeadClass): boolean => findings[kind].count === 0 && (prunedOf[kind] ?? 0) > 0;
    const isKnown = (kind: LeadClass): boolean =>
      this.#isWhole && !this.#undecidable.includes(kind) && !isHidden(kind);
    const byClass = Object.fromEntries(
      allClasses.map((kind) => [kind, isKnown(kind) ? findings[kind].count : null]),
    ) as Readonly<Record<LeadClass, number | null>>;
    return {
      ...counts,
      /** Received leads that match, or that are in the list. */
      received: counts.matched + counts.unlisted,
      /** Null for a class that cannot be told. */
      byClass,
      /** The time at which the oldest lead was created that the service listed, ms; undefined where no lead says it. */
      horizon: this.#horizon,
      /** Records of the list without a usable id. */
      withoutId: this.#withoutId,
    };
  }

  /** Throws what `listLeads` throws. */
  async run(): Promise<void> {
    const { service, query, onProgress } = this.#options;
    const listedIds = new IdSet();
    const acceptUnproven = (end: Unproven): Promise<void> => this.#acceptUnproven(end);
    const walk = listLeads(service, { query, seen: listedIds, prefetch: true, acceptUnproven });
    for await (const { leads } of walk) {
      if (this.listedCount === 0) this.clock.follow(walk.stats.drift ?? 0);
      for (const batch of this.#matchingBatches(leads)) await this.#comparer.add(batch);
      onProgress(this.listedCount, walk.stats.total);
    }
    await this.#comparer.finish();
    // The list shows recent leads only, and does not say since when: a received lead may be older than it reaches.
    if (this.listedCount > 0 && this.#horizon === undefined) this.#cannotDecide(unlistedClasses);
    if (!this.#undecidable.includes('extra')) {
      await this.#comparer.addUnlisted({ ids: listedIds, horizon: this.#horizon });
    }
    service.signal.throwIfAborted();
    this.#isWhole = true;
  }

  /** Class by class, the gravest first. May be read again. */
  async *findings(classes: readonly LeadClass[] = findingClasses): AsyncGenerator<Finding> {
    if (!this.#isWhole) return;
    for (const kind of classes) yield* this.#comparer.findings[kind].values();
  }

  /**
   * Leads that are not in the inbox, as the service sent them, in batches so small that a lookup is fresh when they are sent.
   * May be read again.
   */
  async *unreceived(kind: UnreceivedClass): AsyncGenerator<readonly PulledLead[]> {
    if (this.#isWhole) yield* this.#comparer.unreceived[kind].batches(unreceivedBatch);
  }

  /** How many extra ids are those of missing leads, as a program changes them that reads numbers as floating-point ones. */
  async countRoundedIds(): Promise<number> {
    const { missing, extra } = this.#comparer.findings;
    const numbers = new Set<number>();
    for await (const { id } of missing.values()) if (/^\d{16,}$/.test(id)) numbers.add(Number(id));
    let count = 0;
    for await (const { id } of extra.values()) if (numbers.has(Number(id))) count += 1;
    return count;
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

  #cannotDecide(classes: readonly LeadClass[]): void {
    this.#undecidable = [...this.#undecidable, ...classes];
  }

  /** Learns from the times of listed leads, counts them, and gives those that match and have an id. */
  *#matchingBatches(leads: readonly RawLead[]): Generator<readonly PulledLead[]> {
    let batch: PulledLead[] = [];
    for (const lead of leads) {
      const { id, createdAt, bytes } = lead;
      const time = readCreatedAt(createdAt);
      this.#learnTime(time);
      if (!this.matcher.matchesCreated(lead, time)) continue;
      if (id === undefined) this.#withoutId += 1;
      else batch.push({ id, createdAt, bytes });
      if (batch.length === batchSize) {
        yield batch;
        batch = [];
      }
    }
    this.listedCount += leads.length;
    if (batch.length > 0) yield batch;
  }

  #learnTime(time: number | undefined): void {
    if (time === undefined || time > (this.#previousTime ?? Infinity)) this.#isNewestFirst = false;
    this.#previousTime = time;
    if (time === undefined) return;
    this.#horizon = Math.min(time, this.#horizon ?? time);
    this.clock.returnIfDisproven(time, this.#options.service.clock.now());
  }
}
