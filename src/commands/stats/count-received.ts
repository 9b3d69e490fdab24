import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { maxRejectedKept, maxRepeatsKept } from '../../inbox/store-options.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, parseExact } from '../../json/exact.ts';
import { fieldsOf } from '../../json/resource.ts';
import { fieldAt, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { FieldPresence, leadFilter } from '../../lead/filter.ts';
import { counted, grouped, showProgress } from '../../output/terminal/progress.ts';
import { FieldValues } from '../../stats/lead-counts.ts';
import { ReceiptCounts } from '../../stats/receipt-counts.ts';
import { noteFilters, noteMissingFields } from '../flags/resolve-filter.ts';
import { isInboxNamed } from '../flags/resolve-inbox.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';
import { inboxFlagsOf, type StatsOptions } from './options.ts';
import { type CountedWindows, countedWindows, isPrevious, type StatsPlan } from './plan.ts';

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
): Promise<CountedWindows> {
  const { messages } = context;
  const { window, previous, end } = plan;
  const matcher = leadFilter({ ...plan.filter, since: undefined, until: undefined });
  const fields = new FieldPresence(options.by ?? []);
  const values = new FieldValues(plan.facets);
  const current = { leads: plan.newCounts(), receipts: new ReceiptCounts(end) };
  const before = { leads: plan.newCounts(plan.shiftMs), receipts: new ReceiptCounts(previous?.until ?? end) };
  const passes = (lead: ReceivedLead | undefined): boolean =>
    !plan.isNarrowed || (lead !== undefined && matcher.matches(lead.raw));
  const droppedRepeats = { current: 0, previous: 0 };

  const count = async (delivery: StoredDelivery, inbox: InboxReader): Promise<void> => {
    const { receivedAt, leadId = '', attempt } = delivery;
    const isFirst = attempt === 1 && delivery.reason === undefined;
    const lead = isFirst || plan.isNarrowed ? receivedLead(delivery) : undefined;
    if (!passes(lead)) return;
    const { leads, receipts } = isPrevious(plan, receivedAt) ? before : current;
    const record = lead?.record;
    const createdAt = readCreatedAt(fieldAt(record, ['createdAt']));
    const isNewestRepeat = receipts.add({ ...delivery, createdAt });
    if (isNewestRepeat && attempt > maxRepeatsKept + 1) {
      const { differing, same } = await inbox.droppedRepeats(leadId);
      droppedRepeats[receipts === current.receipts ? 'current' : 'previous'] += differing + same;
    }
    if (!isFirst || record === undefined) return;
    if (fields.searching) fields.look(record);
    leads.add(values.ofRecord(record), receivedAt);
  };

  const found = await withInboxReader(inboxFlagsOf(options), context, async (inbox) => {
    const { since } = plan.filter;
    await eachDelivery(inbox.list({ since, until: window.until }), context, (delivery) =>
      count(delivery, inbox),
    );
    return {
      lastBefore: since === undefined ? undefined : await lastReceiptBefore(inbox, since, passes),
      rejected: {
        current: await rejectedNotKept(inbox, window.since),
        previous: previous === undefined ? 0 : await rejectedNotKept(inbox, since),
      },
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
  const { lastBefore, rejected = { current: 0, previous: 0 } } = found ?? {};
  const later = current.receipts.figures(window.since, before.receipts.newest ?? lastBefore, {
    rejected: rejected.current,
    repeats: droppedRepeats.current,
  });
  const earlier = before.receipts.figures(previous?.since, lastBefore, {
    rejected: rejected.previous,
    repeats: droppedRepeats.previous,
  });
  noteFilters(matcher, messages);
  noteMissingFields('--by', fields, messages);
  if (rejected.current + rejected.previous > 0) {
    messages.note(
      'rejected-kept',
      `only the newest ${grouped(maxRejectedKept)} rejected deliveries are kept: there may have been more`,
    );
  }
  const allRepeats = droppedRepeats.current + droppedRepeats.previous;
  if (allRepeats > 0) {
    const repeats = counted(allRepeats, 'repeat is', 'repeats are');
    messages.note('repeats-kept', `${repeats} not counted: of one lead only the newest are kept`);
  }
  const undated = current.receipts.undated + before.receipts.undated;
  if (undated > 0) {
    const what = counted(undated, 'received lead has', 'received leads have');
    messages.note('unreadable-time', `${what} no createdAt that can be read, and so no delay`);
  }
  return countedWindows(
    plan,
    { leads: current.leads, receipts: later },
    { leads: before.leads, receipts: earlier },
  );
}

async function eachDelivery(
  deliveries: AsyncIterable<StoredDelivery>,
  { status, clock, signal }: Pick<Context, 'status' | 'clock' | 'signal'>,
  visit: (delivery: StoredDelivery) => Promise<void>,
): Promise<void> {
  const progress = showProgress(status, clock);
  let visited = 0;
  try {
    for await (const delivery of deliveries) {
      await visit(delivery);
      visited += 1;
      if (visited % atOnce !== 0) continue;
      progress.update(visited, undefined);
      await setImmediate();
      signal.throwIfAborted();
    }
  } finally {
    progress.clear();
  }
}

/** Zero where the oldest rejected delivery that is kept came before `since`, and otherwise nobody knows how many. */
async function rejectedNotKept(inbox: InboxReader, since: number | undefined): Promise<number> {
  let kept = 0;
  for await (const _ of inbox.list({ verdicts: ['rejected'], since })) kept += 1;
  return kept >= maxRejectedKept ? Infinity : 0;
}

/** When the receiver last got anything before the window: only then is a silence at its beginning one. */
async function lastReceiptBefore(
  inbox: InboxReader,
  time: number,
  passes: (lead: ReceivedLead | undefined) => boolean,
): Promise<number | undefined> {
  for await (const delivery of inbox.list({ until: time })) {
    if (delivery.source === 'backfill' || delivery.reason !== undefined) continue;
    if (passes(receivedLead(delivery))) return delivery.receivedAt;
  }
  return undefined;
}

/** The lead of a delivery as a value, and as filters look at it. */
interface ReceivedLead {
  readonly record: Json;
  readonly raw: RawLead;
}

/** Undefined where the body is not JSON, as that of a rejected delivery may be. */
function receivedLead({ body, place, leadId }: StoredDelivery): ReceivedLead | undefined {
  // A byte order mark is accepted, and is no JSON.
  const json = utf8(leadBytes(body, place)).replace(/^\ufeff/, '');
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
