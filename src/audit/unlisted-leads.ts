import { setImmediate } from 'node:timers/promises';
import type { StoredLead } from '../inbox/query-types.ts';
import { compact } from '../json/bytes.ts';
import { scannedRecord } from '../json/scanned-record.ts';
import { leadMatcher, type LeadFilter, type LeadMatcher } from '../lead/filter.ts';
import type { IdSet } from '../lead/id-set.ts';
import { type RawLead, readCreatedAt } from '../lead/raw-lead.ts';
import type { Service } from '../service/client/service.ts';
import type { AuditClock } from './audit-clock.ts';
import { classifyLead, clockMarginMs, type LeadFacts } from './classify-lead.ts';
import { batchSize, type LeadComparer, type ReceivedSide } from './compare-leads.ts';

interface UnlistedOptions {
  readonly service: Pick<Service, 'signal'>;
  readonly received: ReceivedSide;
  readonly filter: LeadFilter;
}

interface ServiceList {
  readonly ids: IdSet;
  /** The time at which its oldest lead was created, ms; undefined where no lead says it. */
  readonly horizon: number | undefined;
}

/**
 * Finds received leads that the service does not list, or lists outside of the window or the filters. Those with a body are read
 * and judged first; those whose body was pruned follow, by id and time of receipt alone.
 */
export class UnlistedLeads {
  /** Leads that got a finding. */
  judgedCount = 0;
  /** Leads whose body was pruned, while a filter would have to see it. */
  notJudged = 0;
  readonly #options: UnlistedOptions;
  readonly #comparer: LeadComparer;
  readonly #clock: AuditClock;

  constructor(options: UnlistedOptions, comparer: LeadComparer, clock: AuditClock) {
    this.#options = options;
    this.#comparer = comparer;
    this.#clock = clock;
  }

  async find(list: ServiceList): Promise<void> {
    const { received, filter, service } = this.#options;
    const { matches } = leadMatcher(filter);
    let hasPruned = false;
    const earliestReceipt = received.hasTimes ? this.#windowStart - clockMarginMs : 0;
    for await (const seqs of received.leads.seqsSince(earliestReceipt)) {
      const unlisted = seqs.filter((seq) => !this.#comparer.pulledSeqs.has(seq));
      for (let start = 0; start < unlisted.length; start += batchSize) {
        const batch = unlisted.slice(start, start + batchSize);
        const leads = await received.leads.leadsBySeq(batch);
        // The store leaves out leads whose body was pruned.
        hasPruned ||= leads.length < batch.length;
        for (const lead of leads) await this.#judge(lead, matches, list);
      }
      // SQLite answers within one turn of the event loop: Ctrl-C would not be noticed before the end.
      await setImmediate();
      service.signal.throwIfAborted();
    }
    if (hasPruned) await this.#judgePruned(list);
  }

  async #judge(stored: StoredLead, matches: LeadMatcher['matches'], list: ServiceList): Promise<void> {
    const record = scannedBody(stored.body);
    const { createdAt } = record;
    const receivedAt = this.#options.received.hasTimes ? stored.receivedAt : undefined;
    // A lead that does not say when it was created counts by when it came.
    if (readCreatedAt(createdAt) === undefined && !this.#mayBeInWindow(receivedAt)) return;
    if (!matches(record)) return;
    const sides: LeadFacts['sides'] = list.ids.has(stored.leadId)
      ? { on: 'listed-outside' }
      : { on: 'inbox', isPruned: false };
    await this.#addUnlisted({ id: stored.leadId, createdAt, receivedAt, sides }, list);
  }

  async #addUnlisted(lead: LeadFacts, { horizon }: ServiceList): Promise<void> {
    const finding = classifyLead(lead, this.#clock.times, horizon);
    if (finding === undefined) return;
    this.judgedCount += 1;
    await this.#comparer.findings.add(finding);
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

  async #judgePruned(list: ServiceList): Promise<void> {
    const { received, filter, service } = this.#options;
    const needsBody = filter.categories.length > 0 || filter.where.length > 0;
    for await (const leads of received.leads.prunedSince(this.#windowStart)) {
      for (const { leadId: id, seq, receivedAt } of leads) {
        const isListed = this.#comparer.pulledSeqs.has(seq) || list.ids.has(id);
        if (isListed || !this.#mayBeInWindow(receivedAt)) continue;
        if (needsBody) {
          this.notJudged += 1;
          continue;
        }
        const sides = { on: 'inbox', isPruned: true } as const;
        await this.#addUnlisted({ id, createdAt: undefined, receivedAt, sides }, list);
      }
      await setImmediate();
      service.signal.throwIfAborted();
    }
  }
}

const scannedBody = (body: Uint8Array): RawLead => scannedRecord(compact(body));
