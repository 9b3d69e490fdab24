import { setImmediate } from 'node:timers/promises';
import type { StoredLead } from '../inbox/inbox-queries.ts';
import { compact } from '../json/bytes.ts';
import { recordAt } from '../json/scanned-record.ts';
import { scanner } from '../json/scanner.ts';
import { readCreatedAt } from '../lead/created-at.ts';
import type { LeadFilter, LeadMatcher } from '../lead/filter.ts';
import type { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import { type Ages, ageUnknown, isoTime } from './audit-finding.ts';
import { batchSize, type BitSet } from './comparison.ts';
import type { FindingSpool } from './spools.ts';
import type { ReceivedSide } from './received-side.ts';

/** Clocks differ, and a lead may be late: it came within a day of its creation, before or after. */
const clockMarginMs = 86_400_000;

interface ReceivedOnlyOptions {
  readonly received: ReceivedSide;
  readonly ages: Ages;
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

interface ReceivedOnly {
  /** Leads that the service does not list, or lists outside of the window or the filters. */
  readonly count: number;
  /** Leads that it does not list either, and of which the filter would have to see what was pruned. */
  readonly notJudged: number;
}

/** A received lead that the service does not list. */
interface Unlisted {
  readonly leadId: string;
  readonly createdAt: string | undefined;
  /** ms; undefined where that is not known. */
  readonly receivedAt: number | undefined;
  /** What is to be known if it is an extra one. */
  readonly remark: string | null;
}

/** Finds the received leads that the service does not list, after a complete walk. */
export async function findReceivedOnly(options: ReceivedOnlyOptions): Promise<ReceivedOnly> {
  const { received, pulledSeqs, filter, signal } = options;
  const { since } = filter;
  let count = 0;
  let arePruned = false;
  const receivedSince = received.hasTimes && since !== undefined ? since - clockMarginMs : 0;
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
async function judge(stored: StoredLead, options: ReceivedOnlyOptions): Promise<boolean> {
  const { received, matches, filter, listed } = options;
  const record = recordOf(stored.body);
  const { createdAt } = record;
  const created = readCreatedAt(createdAt);
  const receivedAt = received.hasTimes ? stored.receivedAt : undefined;
  if (created === undefined && !isWithin(receivedAt, filter)) return false;
  if (!matches(record)) return false;
  const lead = { leadId: stored.leadId, createdAt, receivedAt, remark: ageUnknown(created) };
  if (listed.has(stored.leadId)) return addMoved(lead, options);
  await add(lead, options);
  return true;
}

/**
 * A lead that matches as it was received, and not as it was pulled: some field that the window or the filters ask for is
 * not the same. Not one that came after it was found to be missing.
 */
async function addMoved(lead: Unlisted, { ages, findings }: ReceivedOnlyOptions): Promise<boolean> {
  const { createdAt, receivedAt } = lead;
  const created = readCreatedAt(createdAt);
  if (created === undefined || (receivedAt ?? 0) >= ages.startedAt) return false;
  const isYoung = ages.isUnsettled(created);
  await findings.add({
    class: isYoung ? 'unsettled' : 'different',
    id: lead.leadId,
    fields: null,
    createdAt: createdAt ?? null,
    receivedAt: isoTime(receivedAt),
    reason: isYoung ? 'different so far' : 'the service lists it outside of the window or the filters',
  });
  return true;
}

/** Of these nothing is left but when they came. */
async function judgePruned(options: ReceivedOnlyOptions): Promise<ReceivedOnly> {
  const { received, pulledSeqs, filter, listed, signal } = options;
  const isJudged = filter.categories.length === 0 && filter.where.length === 0;
  const remark = 'when it was created is not known: its body was pruned';
  let found = 0;
  for await (const leads of received.leads.prunedSince(filter.since ?? 0)) {
    for (const { leadId, seq, receivedAt } of leads) {
      if (pulledSeqs.has(seq) || listed.has(leadId) || !isWithin(receivedAt, filter)) continue;
      found += 1;
      if (isJudged) await add({ leadId, createdAt: undefined, receivedAt, remark }, options);
    }
    await setImmediate();
    signal.throwIfAborted();
  }
  return isJudged ? { count: found, notJudged: 0 } : { count: 0, notJudged: found };
}

async function add(lead: Unlisted, { ages, horizon, findings }: ReceivedOnlyOptions): Promise<void> {
  const { createdAt, receivedAt, remark } = lead;
  const created = readCreatedAt(createdAt);
  // What came during the walk may belong to a place that it had passed.
  const isYoung = (receivedAt ?? 0) >= ages.startedAt || ages.isUnsettled(created ?? receivedAt);
  const earliest = created ?? (receivedAt === undefined ? undefined : receivedAt - clockMarginMs);
  const isBeyond = horizon === undefined || (earliest !== undefined && earliest <= horizon);
  const kind = isYoung ? 'unsettled' : isBeyond ? 'beyond-horizon' : 'extra';
  await findings.add({
    class: kind,
    id: lead.leadId,
    fields: null,
    createdAt: createdAt ?? null,
    receivedAt: isoTime(receivedAt),
    reason: isYoung ? 'extra so far' : kind === 'extra' ? remark : null,
  });
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
