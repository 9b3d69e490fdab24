import { setImmediate } from 'node:timers/promises';
import type { StoredLead } from '../inbox/query-types.ts';
import { compact } from '../json/bytes.ts';
import { recordAt, scanner } from '../json/scanner.ts';
import type { LeadFilter, LeadMatcher } from '../lead/filter.ts';
import type { IdSet } from '../lead/id-set.ts';
import { type RawLead, readCreatedAt } from '../lead/raw-lead.ts';
import { type AuditTimes, classifyLead, clockMarginMs, type LeadFacts } from './classify-lead.ts';
import { batchSize, type BitSet, type ReceivedSide } from './compare-leads.ts';
import type { FindingSpool } from './temporary-leads.ts';

interface UnlistedOptions {
  readonly received: ReceivedSide;
  readonly times: AuditTimes;
  readonly filter: LeadFilter;
  /** The filter and the window. */
  readonly matches: LeadMatcher['matches'];
  /** The numbers of those that were pulled. */
  readonly pulledSeqs: BitSet;
  /** Ids of all leads that the service listed, those outside of the filter as well. */
  readonly listed: Pick<IdSet, 'has'>;
  /** When the oldest lead was created that the service lists, ms; undefined where it lists none. */
  readonly horizon: number | undefined;
  readonly findings: FindingSpool;
  readonly signal: AbortSignal;
}

interface Unlisted {
  /** Leads that the service does not list, or lists outside of the window or the filters. */
  readonly count: number;
  /** Leads that it does not list either, and of which the filter would have to see what was pruned. */
  readonly notJudged: number;
}

/** Finds the received leads that the service does not list, after a complete walk. */
export async function findUnlistedLeads(options: UnlistedOptions): Promise<Unlisted> {
  const { received, pulledSeqs, filter, times, signal } = options;
  const { since } = filter;
  let count = 0;
  let arePruned = false;
  const receivedSince =
    received.hasTimes && since !== undefined ? since - clockMarginMs - times.clockAheadMs : 0;
  for await (const seqs of received.leads.seqsSince(receivedSince)) {
    const others = seqs.filter((seq) => !pulledSeqs.has(seq));
    for (let start = 0; start < others.length; start += batchSize) {
      const batch = others.slice(start, start + batchSize);
      const leads = await received.leads.leadsBySeq(batch);
      arePruned ||= leads.length < batch.length;
      for (const lead of leads) if (await judge(lead, options)) count += 1;
    }
    await setImmediate();
    signal.throwIfAborted();
  }
  if (!arePruned) return { count, notJudged: 0 };
  const pruned = await judgePruned(options);
  return { count: count + pruned.count, notJudged: pruned.notJudged };
}

/** False for a lead that is not asked for. */
async function judge(stored: StoredLead, options: UnlistedOptions): Promise<boolean> {
  const { received, matches, filter, listed } = options;
  const record = recordOf(stored.body);
  const { createdAt } = record;
  const created = readCreatedAt(createdAt);
  const receivedAt = received.hasTimes ? stored.receivedAt : undefined;
  if (created === undefined && !isWithin(receivedAt, filter)) return false;
  if (!matches(record)) return false;
  const lead = { id: stored.leadId, createdAt, receivedAt };
  if (!listed.has(stored.leadId)) return add({ ...lead, found: { on: 'inbox', isPruned: false } }, options);
  return add({ ...lead, found: { on: 'both-unequally' } }, options);
}

/** Whether there is a finding. */
async function add(lead: LeadFacts, { times, horizon, findings }: UnlistedOptions): Promise<boolean> {
  const finding = classifyLead(lead, times, horizon);
  if (finding !== undefined) await findings.add(finding);
  return finding !== undefined;
}

/** Of these nothing is left but when they came. */
async function judgePruned(options: UnlistedOptions): Promise<Unlisted> {
  const { received, pulledSeqs, filter, listed, signal } = options;
  const isJudged = filter.categories.length === 0 && filter.where.length === 0;
  let found = 0;
  for await (const leads of received.leads.prunedSince(filter.since ?? 0)) {
    for (const { leadId, seq, receivedAt } of leads) {
      if (pulledSeqs.has(seq) || listed.has(leadId) || !isWithin(receivedAt, filter)) continue;
      found += 1;
      if (!isJudged) continue;
      const lead = {
        id: leadId,
        createdAt: undefined,
        receivedAt,
        found: { on: 'inbox', isPruned: true },
      } as const;
      await add(lead, options);
    }
    await setImmediate();
    signal.throwIfAborted();
  }
  return isJudged ? { count: found, notJudged: 0 } : { count: 0, notJudged: found };
}

/** A lead that does not say when it was created counts by when it came. */
const isWithin = (receivedAt: number | undefined, { since, until }: LeadFilter): boolean =>
  receivedAt === undefined || (receivedAt >= (since ?? -Infinity) && receivedAt < (until ?? Infinity));

function recordOf(body: Uint8Array): RawLead {
  const bytes = compact(body);
  scanner.load(bytes);
  scanner.valueEnd(0);
  return recordAt(bytes, scanner.lastRow(), 0);
}
