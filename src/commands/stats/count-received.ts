import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import type { StoredReceipt } from '../../inbox/query-types.ts';
import { maxRejectedKept, maxRepeatsKept } from '../../inbox/store-options.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, parseExact } from '../../json/exact.ts';
import { fieldsOf } from '../../json/resource.ts';
import { recordOf } from '../../json/scanner.ts';
import { fieldAt, type RawLead, readCreatedAt, leadBytes } from '../../lead/raw-lead.ts';
import { FieldPresence, leadFilter } from '../../lead/filter.ts';
import { counted, grouped, showProgress } from '../../output/terminal/progress.ts';
import { FieldValues } from '../../stats/lead-counts.ts';
import { type NotKept, ReceiptCounts, type RemovedFigures } from '../../stats/receipt-counts.ts';
import { noteFilters, noteMissingFields } from '../../output/filter-notes.ts';
import { isInboxNamed } from '../flags/resolve-inbox.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';
import { inboxFlagsOf, type StatsOptions } from './options.ts';
import { type CountedWindow, countedWindow, type StatsPlan, type Window } from './plan.ts';

/** Deliveries that are counted before a signal, and the status line, get their turn. */
const atOnce = 1000;

/**
 * Counts deliveries of the inbox and the leads that they brought first, by when they were received. Other filters than the
 * time apply to deliveries as well; one whose body holds no lead that can be read passes none of them.
 */
export async function countReceived(
  options: StatsOptions,
  plan: StatsPlan,
  context: Context,
): Promise<CountedWindow> {
  const { messages } = context;
  const { window, end } = plan;
  const matcher = leadFilter({ ...plan.filter, since: undefined, until: undefined });
  const fields = new FieldPresence(options.by ?? []);
  const values = new FieldValues(plan.facets);
  const leads = plan.newCounts();
  const receipts = new ReceiptCounts(end);
  const passes = (lead: ReceivedLead | undefined): boolean =>
    !plan.isNarrowed || (lead !== undefined && matcher.matches(lead.raw));
  let droppedRepeats = 0;

  /** Whether there may be repeats of its lead that are not kept: it is the newest of many. */
  const count = ({ lead: bytes, ...receipt }: StoredReceipt): boolean => {
    const { receivedAt, attempt, reason } = receipt;
    const isFirst = attempt === 1 && reason === undefined;
    // What is filtered by, and fields that are looked for, take a parsed record.
    const isPlain = bytes !== undefined && isFirst && !plan.isNarrowed && !fields.searching;
    const scanned = isPlain ? recordOf(bytes) : undefined;
    const createdText = scanned?.createdAt;
    // A number may be written with an exponent, and its value is that of the parsed record.
    const quick = createdText === undefined || /e/i.test(createdText) ? undefined : scanned;
    const lead = quick === undefined && bytes !== undefined ? receivedLead(bytes, receipt.leadId) : undefined;
    if (!passes(lead)) return false;
    const record = lead?.record;
    const createdAt = readCreatedAt(quick === undefined ? fieldAt(record, ['createdAt']) : createdText);
    const isNewestRepeat = receipts.add({ ...receipt, createdAt });
    if (quick !== undefined) leads.add(values.ofBytes(quick), receivedAt);
    else if (isFirst && record !== undefined) {
      if (fields.searching) fields.look(record);
      leads.add(values.ofRecord(record), receivedAt);
    }
    return isNewestRepeat && attempt > maxRepeatsKept + 1;
  };

  const found = await withInboxReader(inboxFlagsOf(options), context, async (inbox) => {
    const { since } = plan.filter;
    const query = { since, until: window.until, withRepeats: plan.isNarrowed };
    await eachBatch(inbox.receipts(query), context, async (batch) => {
      for (const receipt of batch) {
        if (!count(receipt)) continue;
        const { differing, same } = await inbox.droppedRepeats(receipt.leadId ?? '');
        droppedRepeats += differing + same;
      }
    });
    return {
      lastBefore: since === undefined ? undefined : await lastReceiptBefore(inbox, since, passes),
      removed: await removedIn(inbox, window, plan),
    };
  });

  if (found === undefined && isInboxNamed(inboxFlagsOf(options), context.env)) {
    throw new ConfigError(
      `there is no inbox at ${options.inbox?.place ?? context.env['LEADS_INBOX'] ?? ''}, so there is nothing to count`,
      {
        hint: 'without a name, --inbox is the inbox of this profile',
      },
    );
  }
  const { lastBefore, removed } = found ?? {};
  const notKept = notKeptOf(removed, droppedRepeats, plan);
  const added = plan.isNarrowed ? undefined : removed;
  const figures = receipts.figures(window.since, lastBefore, notKept, added);
  noteFilters(matcher, messages);
  noteMissingFields('--by', fields, messages);
  if (notKept.rejected > 0) {
    messages.note(
      'rejected-kept',
      `only the newest ${grouped(maxRejectedKept)} rejected deliveries are kept: there may have been more`,
    );
  }
  if (notKept.repeats > 0) {
    const repeats = counted(notKept.repeats, 'repeat is', 'repeats are');
    messages.note('repeats-kept', `${repeats} not counted: of one lead only the newest are kept`);
  }
  const pruned = removed?.first ?? 0;
  if (pruned > 0) {
    const what = counted(pruned, 'lead', 'leads');
    messages.note(
      'pruned',
      `${what} whose delivery was removed: not in the total and its groups, which need their fields`,
    );
  }
  const { undated } = receipts;
  if (undated > 0) {
    const what = counted(undated, 'received lead has', 'received leads have');
    messages.note('unreadable-time', `${what} no createdAt that can be read, and so no delay`);
  }
  return countedWindow(plan, { leads, receipts: figures });
}

async function eachBatch(
  batches: AsyncIterable<readonly StoredReceipt[]>,
  { status, clock, signal }: Pick<Context, 'status' | 'clock' | 'signal'>,
  visit: (batch: readonly StoredReceipt[]) => Promise<void>,
): Promise<void> {
  const progress = showProgress(status, clock);
  let visited = 0;
  let waited = 0;
  try {
    for await (const batch of batches) {
      await visit(batch);
      visited += batch.length;
      if (visited - waited < atOnce) continue;
      waited = visited;
      progress.update(visited, undefined);
      await setImmediate();
      signal.throwIfAborted();
    }
  } finally {
    progress.clear();
  }
}

async function removedIn(
  inbox: InboxReader,
  { since, until }: Window,
  { end }: StatsPlan,
): Promise<RemovedFigures> {
  const verdicts = { accepted: 0, duplicate: 0, rejected: 0, other: 0 };
  const byReason = new Map<string, number>();
  let first = 0;
  const query = { since: Math.floor(since ?? 0), until: Math.ceil(until ?? end) };
  for await (const step of inbox.counts({
    ...query,
    partMs: Math.max(1, query.until - query.since),
    isRemoved: true,
  })) {
    for (const { verdict, reason, source, attempt, count } of step) {
      if (source === 'backfill') continue;
      verdicts[verdict] += count;
      if (verdict === 'rejected')
        byReason.set(reason ?? 'unknown', (byReason.get(reason ?? 'unknown') ?? 0) + count);
      else if (attempt === 1 && verdict !== 'other') first += count;
    }
  }
  return { verdicts, byReason, first };
}

/** Which field a removed delivery had nobody knows: where leads are chosen by their fields, all of them may be meant. */
function notKeptOf(removed: RemovedFigures | undefined, repeats: number, { isNarrowed }: StatsPlan): NotKept {
  if (removed === undefined) return { rejected: 0, repeats };
  const { verdicts } = removed;
  if (isNarrowed) return { rejected: verdicts.rejected, repeats };
  return { rejected: 0, repeats: Math.max(0, repeats - verdicts.duplicate) };
}

/** When the receiver last got anything before the window: only then is a silence at its beginning one. */
async function lastReceiptBefore(
  inbox: InboxReader,
  time: number,
  passes: (lead: ReceivedLead | undefined) => boolean,
): Promise<number | undefined> {
  for await (const delivery of inbox.list({ until: time })) {
    if (delivery.source === 'backfill' || delivery.reason !== undefined) continue;
    const { body, place, leadId, receivedAt } = delivery;
    if (passes(receivedLead(leadBytes(body, place), leadId))) return receivedAt;
  }
  return undefined;
}

/** The lead of a delivery as a value, and as filters look at it. */
interface ReceivedLead {
  readonly record: Json;
  readonly raw: RawLead;
}

/** Undefined where the bytes are not JSON, as those of a rejected delivery may be. */
function receivedLead(bytes: Uint8Array, leadId: string | undefined): ReceivedLead | undefined {
  // A byte order mark is accepted, and is no JSON.
  const json = utf8(bytes).replace(/^\ufeff/, '');
  const record = parsed(json);
  if (record === undefined) return undefined;
  const { createdAt, category } = isObject(record) ? fieldsOf(record) : {};
  const isTime = typeof createdAt === 'string' || typeof createdAt === 'number';
  const raw = {
    id: leadId,
    createdAt: isTime ? String(createdAt) : undefined,
    category: typeof category === 'string' ? category : undefined,
    get bytes() {
      return Buffer.from(json);
    },
  };
  return { record, raw };
}

function parsed(json: string): Json | undefined {
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}
