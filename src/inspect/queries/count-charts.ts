import type { InboxQuery, InboxReader } from '../../inbox/inbox.ts';
import { DelayPercentiles } from '../../stats/receipt-counts.ts';
import type { WireBucket, WireCharts, WireCounts, WireVerdict } from '../wire.ts';
import type { ChartQuery } from './query-types.ts';

interface Counts {
  readonly verdicts: Record<WireVerdict, number>;
  readonly delays: DelayPercentiles;
  delayMax: number | null;
  delaysUnknown: number;
}

/** Counts all that was received in a window, also what is not stored any more. */
export async function countCharts(
  inbox: Pick<InboxReader, 'counts' | 'extent'>,
  query: ChartQuery,
): Promise<WireCharts> {
  const {
    since,
    until,
    buckets: most,
  } = query.since === undefined ? await fittedWindow(inbox, query.until) : { ...query, since: query.since };
  const bucketMs = Math.max(1, Math.ceil((until - since) / most));
  const { countedSince } = await inbox.extent();
  const buckets = Array.from({ length: Math.max(1, Math.ceil((until - since) / bucketMs)) }, (): Counts => ({
    verdicts: { ...none },
    delays: new DelayPercentiles(),
    delayMax: null,
    delaysUnknown: 0,
  }));
  const removed = { ...none };
  for await (const step of inbox.counts({ since, until, partMs: bucketMs })) {
    for (const { part, verdict, count, isRemoved, delays, delaysUnknown } of step) {
      const bucket = buckets[part];
      if (bucket === undefined) continue;
      bucket.verdicts[verdict] += count;
      bucket.delaysUnknown += delaysUnknown;
      if (isRemoved) removed[verdict] += count;
      for (const delay of delays) {
        bucket.delays.add(delay);
        bucket.delayMax = Math.max(delay, bucket.delayMax ?? 0);
      }
    }
  }
  return {
    since,
    until,
    bucketMs,
    buckets: buckets.map((bucket, i) => wireBucket(since + i * bucketMs, bucket)),
    removed,
    unknownBefore: countedSince > since ? Math.min(countedSince, until) : null,
  };
}

const minute = 60_000;
const day = 1440 * minute;

/** Fewer buckets than that would make one delivery a bar as wide as the chart. */
const fewestBuckets = 12;

/** The part of the last day in which something came, in whole minutes; around a short one so much that it is in the middle. */
async function fittedWindow(
  inbox: Pick<InboxReader, 'counts'>,
  until: number,
): Promise<ChartQuery & { readonly since: number }> {
  const start = Math.ceil(until / minute) * minute - day;
  let [first, last] = [Infinity, 0];
  for await (const step of inbox.counts({ since: start, until, partMs: minute })) {
    for (const { part } of step) [first, last] = [Math.min(first, part), Math.max(last, part)];
  }
  if (first === Infinity) [first, last] = [0, day / minute - 1];
  const length = [1, 2, 5, 10].find((one) => (last - first) / one < 60) ?? 30;
  const from = Math.floor((start / minute + first) / length);
  const count = Math.floor((start / minute + last) / length) - from + 1;
  const buckets = Math.max(count, fewestBuckets);
  const since = (from - Math.floor((buckets - count) / 2)) * length * minute;
  return { since, until: since + buckets * length * minute, buckets };
}

/** More pending leads are not counted: they are read one by one. */
const mostPending = 1_000;

/** How many rows the list has of each verdict. */
export async function countVerdicts(
  inbox: Pick<InboxReader, 'counts' | 'list'>,
  { since = 0, until = Number.MAX_SAFE_INTEGER }: Pick<InboxQuery, 'since' | 'until'>,
): Promise<WireCounts> {
  const counts = { ...none };
  const partMs = Number.MAX_SAFE_INTEGER;
  for await (const step of inbox.counts({ since, until, partMs })) {
    for (const { verdict, count, isRemoved } of step) if (!isRemoved) counts[verdict] += count;
  }
  // Of a lead that is outstanding the list has one row, whatever its deliveries were answered when they came.
  counts.pending = 0;
  for await (const _ of inbox.list({ verdicts: ['pending'], since, until })) {
    counts.pending += 1;
    if (counts.pending === mostPending) break;
  }
  return counts;
}

const none = { accepted: 0, duplicate: 0, pending: 0, rejected: 0, other: 0 };

function wireBucket(at: number, { verdicts, delays, delayMax, delaysUnknown }: Counts): WireBucket {
  return { at, ...verdicts, delayP50: delays.figures().p50, delayMax, delaysUnknown };
}
