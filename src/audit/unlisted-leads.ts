import { setImmediate } from 'node:timers/promises';
import type { StoredLead } from '../inbox/query-types.ts';
import { compact } from '../json/bytes.ts';
import { scannedRecord } from '../json/scanned-record.ts';
import { leadFilter, type LeadFilter, type LeadMatcher } from '../lead/filter.ts';
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

/** Received leads that the service does not list, or lists outside of the window or the filters. */
export class UnlistedLeads {
  count = 0;
  /** Leads whose body was pruned, while a filter would have to see it. */
  notJudged = 0;
  readonly #options: UnlistedOptions;
  readonly #comparer: LeadComparer;
  readonly #clock: AuditClock;
  #horizon: number | undefined;

  constructor(options: UnlistedOptions, comparer: LeadComparer, clock: AuditClock) {
    this.#options = options;
    this.#comparer = comparer;
    this.#clock = clock;
  }

  /** `horizon`: the time at which the oldest lead was created that the service lists, ms; undefined where no lead says it. */
  async find(listedIds: IdSet, horizon: number | undefined): Promise<void> {
    this.#horizon = horizon;
    const { received, filter, service } = this.#options;
    const { since } = filter;
    const { matches } = leadFilter(filter);
    let arePruned = false;
    const isDated = received.hasTimes && since !== undefined;
    const receivedSince = isDated ? since - clockMarginMs - this.#clock.times.clockAheadMs : 0;
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
    if (await this.#addUnlisted({ id: stored.leadId, createdAt, receivedAt, sides })) this.count += 1;
  }

  async #addUnlisted(lead: LeadFacts): Promise<boolean> {
    const finding = classifyLead(lead, this.#clock.times, this.#horizon);
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
        this[isJudged ? 'count' : 'notJudged'] += 1;
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
