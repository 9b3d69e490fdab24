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
  { since, until, buckets: most }: ChartQuery,
): Promise<WireCharts> {
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
