import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import type { StoredReceipt } from '../../inbox/query-types.ts';
import { recordOf, type ScannedRecord } from '../../json/scanned-record.ts';
import { FieldPresence, leadFilter } from '../../lead/filter.ts';
import { leadBytes, parseLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { FieldValues } from '../../stats/lead-counts.ts';
import { ReceiptCounts } from '../../stats/receipt-counts.ts';
import { isInboxNamed } from '../flags/resolve-inbox.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';
import { ownInbox, type StatsOptions } from './command.ts';
import { type Stats, type StatsPlan, statsOf } from './plan.ts';

/**
 * Counts deliveries of the inbox and the leads that they brought first, by the time of receipt. Other filters than the time
 * apply to deliveries as well; a delivery whose body holds no readable lead passes none of them.
 */
export async function countReceived(
  options: StatsOptions,
  plan: StatsPlan,
  context: Context,
): Promise<Stats> {
  const { messages, status, clock, signal } = context;
  const { filter, isNarrowed, end, leads } = plan;
  const { since, until } = filter;
  const matcher = leadFilter({ ...filter, since: undefined, until: undefined });
  const fields = new FieldPresence(options.by ?? []);
  const values = new FieldValues(plan.facets);
  const receipts = new ReceiptCounts();
  const passes = (lead: ScannedRecord | undefined): boolean =>
    !isNarrowed || (lead !== undefined && matcher.matches(lead));
  const count = ({ lead: bytes, ...receipt }: StoredReceipt): void => {
    const lead = bytes && recordOf(bytes);
    if (!passes(lead)) return;
    receipts.add({ ...receipt, createdAt: readCreatedAt(lead?.createdAt) });
    if (lead === undefined || receipt.attempt > 1 || receipt.reason !== undefined) return;
    if (fields.searching) fields.look(parseLead(lead));
    leads.add(values.ofBytes(lead), receipt.receivedAt);
  };

  const progress = showProgress(status, clock);
  let visited = 0;
  let unjudged = 0;
  const inboxFlags = { inbox: options.inbox === ownInbox ? undefined : options.inbox };
  const lastBefore = await withInboxReader(
    inboxFlags,
    context,
    async (inbox) => {
      for await (const batch of inbox.receipts({ since, until, withRepeats: isNarrowed })) {
        batch.forEach(count);
        visited += batch.length;
        progress.update(visited, undefined);
        await setImmediate();
        signal.throwIfAborted();
      }
      const [from, to] = [Math.floor(since ?? 0), Math.ceil(until ?? end)];
      const whole = { since: from, until: to, partMs: Math.max(1, to - from) };
      for await (const counts of inbox.counts({ ...whole, onlyRemoved: true })) {
        for (const removed of counts) {
          if (isNarrowed) unjudged += removed.count;
          else receipts.addRemoved(removed);
        }
      }
      return since === undefined ? undefined : lastReceiptBefore(inbox, since, passes);
    },
    isInboxNamed(inboxFlags, context.env) ? failWithoutInbox : undefined,
  ).finally(() => progress.clear());

  noteFilters(matcher, messages);
  noteMissingFields('--by', fields, messages);
  noteUncounted(receipts, unjudged, messages);
  return statsOf(plan, options, receipts.figures(since, lastBefore, end, unjudged));
}

/** `unjudged`: deliveries that are not stored any more, while a filter would have to see them. */
function noteUncounted(
  { undated, removedLeads }: ReceiptCounts,
  unjudged: number,
  messages: Pick<Messages, 'note'>,
): void {
  if (unjudged > 0) {
    const deliveries = counted(unjudged, 'delivery is', 'deliveries are');
    messages.note('removed', `${deliveries} not stored any more, so that no filter can count them`);
  }
  if (removedLeads > 0) {
    const removed = counted(removedLeads, 'lead', 'leads');
    messages.note(
      'pruned',
      `${removed} whose delivery was removed: not in the total and its groups, which need their fields`,
    );
  }
  if (undated > 0) {
    const undatedLeads = counted(undated, 'received lead has', 'received leads have');
    messages.note('unreadable-time', `${undatedLeads} no createdAt that can be read, and so no delay`);
  }
}

function failWithoutInbox(place: string): never {
  throw new ConfigError(`there is no inbox at ${place}, so there is nothing to count`, {
    hint: 'without a name, --inbox is the inbox of this profile',
  });
}

/** A silence at the beginning of the window counts from the last receipt before it. */
async function lastReceiptBefore(
  inbox: InboxReader,
  time: number,
  passes: (lead: ScannedRecord | undefined) => boolean,
): Promise<number | undefined> {
  for await (const { source, reason, body, place, receivedAt } of inbox.list({ until: time })) {
    if (source === 'push' && reason === undefined && passes(recordOf(leadBytes(body, place))))
      return receivedAt;
  }
  return undefined;
}
