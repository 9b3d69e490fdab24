import { setImmediate } from 'node:timers/promises';
import type { Dialect } from '../../config/dialect.ts';
import type { Context } from '../../context.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import type { StoredReceipt } from '../../inbox/query-types.ts';
import { recordOf, type ScannedRecord } from '../../json/scanned-record.ts';
import { leadMatcher, type LeadFilter } from '../../lead/filter.ts';
import { leadBytes, readCreatedAt } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { statusFields } from '../../service/pagers/names.ts';
import { type Facet, LeadCounts, type LeadGrouping } from '../../stats/lead-counts.ts';
import { ReceiptCounts, type ReceiptFigures } from '../../stats/receipt-counts.ts';
import { unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/shared-flags.ts';
import { withInboxReader } from '../flags/resolve-inbox.ts';
import { ownInbox, type StatsOptions } from './command.ts';

interface StatsPlan extends LeadGrouping {
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  /** Whether the filter has to see fields of leads, and not only their time. */
  readonly needsFields: boolean;
  /** The end of the window, or now where that is earlier; ms since the epoch. */
  readonly end: number;
}

export interface CountedLeads {
  readonly leads: LeadCounts;
  readonly receipts?: ReceiptFigures | undefined;
}

export function planStats(
  options: StatsOptions,
  dialect: Dialect,
  now: number,
  messages: Pick<Messages, 'note'>,
): StatsPlan {
  const { by, zone = 'UTC' } = options;
  const { query, filter } = resolveFilter(options, now, messages);
  return {
    query,
    filter,
    needsFields: filter.categories.length + filter.where.length > 0,
    end: Math.min(filter.until ?? now, now),
    facets: by?.map((path) => ({ key: path, title: path, paths: [path] })) ?? usualFacets(dialect),
    namedFacets: by ?? [],
    zone,
  };
}

const usualFacets = ({ statusField = 'auto' }: Dialect): readonly Facet[] => [
  { key: 'status', title: 'STATUS', paths: statusField === 'auto' ? statusFields : [statusField] },
  { key: 'category', title: 'CATEGORY', paths: ['category'] },
  { key: 'source', title: 'SOURCE', paths: ['metadata.source'] },
];

/** Counts the leads of the service by when they were created. Throws an `IncompleteError` where the walk proves no end. */
export async function countPulled(
  options: StatsOptions,
  plan: StatsPlan,
  context: Context,
): Promise<CountedLeads> {
  const { messages, clock, status } = context;
  const service = await openService(context);
  const matcher = leadMatcher(plan.filter);
  const leads = new LeadCounts(plan);
  const walk = listLeads(service, {
    query: plan.query,
    prefetch: true,
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages),
  });
  const progress = showProgress(status, clock);
  try {
    for await (const batch of walk) {
      for (const lead of batch.leads) {
        const time = readCreatedAt(lead.createdAt);
        if (matcher.matchesCreated(lead, time)) leads.add(lead, time);
      }
      progress.update(walk.stats.leads, walk.stats.total);
    }
  } finally {
    progress.clear();
  }
  noteFilters(matcher, messages);
  noteMissingFields('--by', leads.namedFields, messages);
  return { leads };
}

type PassesFilter = (lead: ScannedRecord | undefined) => boolean;

/**
 * Counts the deliveries in the inbox, and the leads that they brought first, by the time of receipt. Further filters apply to
 * deliveries as well; one whose body holds no readable lead passes none of them. Stored deliveries are counted one by one, then
 * the removed ones by their number alone, and then the last receipt before the window is looked up, since a silence may have
 * started with it.
 */
export async function countReceived(
  options: StatsOptions,
  plan: StatsPlan,
  context: Context,
): Promise<CountedLeads> {
  const { messages, status, clock, signal } = context;
  const { filter, needsFields, end } = plan;
  const { since, until } = filter;
  // Its notes are about the leads before the window, too: a field that only they have is no misspelt one.
  const matcher = leadMatcher({ ...filter, since: undefined, until: undefined });
  const passes: PassesFilter = (lead) => !needsFields || (lead !== undefined && matcher.matches(lead));
  const leads = new LeadCounts(plan);
  const receipts = new ReceiptCounts();
  const countDelivery = ({ lead: bytes, ...receipt }: StoredReceipt): void => {
    const lead = bytes && recordOf(bytes);
    if (!passes(lead)) return;
    receipts.add({ ...receipt, createdAt: readCreatedAt(lead?.createdAt) });
    const isStored = receipt.reason === undefined;
    if (lead !== undefined && isStored && receipt.attempt === 1) leads.add(lead, receipt.receivedAt);
  };

  const inboxFlags = { inbox: options.inbox === ownInbox ? undefined : options.inbox };
  const progress = showProgress(status, clock);
  const counts = await withInboxReader(inboxFlags, context, async (inbox) => {
    let visited = 0;
    for await (const batch of inbox.receipts({ since, until, withRepeats: needsFields })) {
      batch.forEach(countDelivery);
      visited += batch.length;
      progress.update(visited, undefined);
      await setImmediate();
      signal.throwIfAborted();
    }
    const unfilterable = await countRemoved(inbox, plan, receipts);
    const lastBefore = since === undefined ? undefined : await lastReceiptBefore(inbox, since, passes);
    return { unfilterable, lastBefore };
  }).finally(() => progress.clear());
  const { unfilterable = 0, lastBefore } = counts ?? {};

  noteFilters(matcher, messages);
  noteMissingFields('--by', leads.namedFields, messages);
  noteUncounted(receipts, unfilterable, messages);
  return { leads, receipts: receipts.figures(since, lastBefore, end, unfilterable) };
}

/** Adds the removed deliveries of the window. Where a filter would have to see their fields, it only returns their number. */
async function countRemoved(
  inbox: InboxReader,
  { filter: { since, until }, end, needsFields }: StatsPlan,
  receipts: ReceiptCounts,
): Promise<number> {
  const wholeWindow = { since: Math.floor(since ?? 0), until: Math.ceil(until ?? end) };
  let unfilterable = 0;
  for (const removed of await inbox.removedCounts(wholeWindow)) {
    if (needsFields) unfilterable += removed.count;
    else receipts.addRemoved(removed);
  }
  return unfilterable;
}

async function lastReceiptBefore(
  inbox: InboxReader,
  time: number,
  passes: PassesFilter,
): Promise<number | undefined> {
  for await (const { source, reason, body, place, receivedAt } of inbox.list({ until: time })) {
    const isReceipt = source === 'push' && reason === undefined;
    if (isReceipt && passes(recordOf(leadBytes(body, place)))) return receivedAt;
  }
  return undefined;
}

function noteUncounted(
  { undatedLeads, removedLeads }: ReceiptCounts,
  unfilterable: number,
  messages: Pick<Messages, 'note'>,
): void {
  if (unfilterable > 0) {
    const deliveries = counted(unfilterable, 'delivery is', 'deliveries are');
    messages.note('removed', `${deliveries} not stored any more, so that no filter can count them`);
  }
  if (removedLeads > 0) {
    const removed = counted(removedLeads, 'lead', 'leads');
    messages.note(
      'pruned',
      `${removed} whose delivery was removed: not in the total and its groups, which need their fields`,
    );
  }
  if (undatedLeads > 0) {
    const leads = counted(undatedLeads, 'received lead has', 'received leads have');
    messages.note('unreadable-time', `${leads} no createdAt that can be read, and so no delay`);
  }
}
