import type { InboxReader } from '../../inbox/inbox.ts';
import type { WireChart, WireCounts } from '../wire.ts';

interface ChartQuery {
  /** Undefined: of the last day what has deliveries, in as many buckets as that needs. */
  readonly since: number | undefined;
  readonly until: number;
  readonly buckets: number;
}

/** Counts all that was received in a window, also what is not stored any more. */
export async function countByTime(inbox: Pick<InboxReader, 'counts'>, query: ChartQuery): Promise<WireChart> {
  const window =
    query.since === undefined
      ? await fittedWindow(inbox, query.until)
      : { since: query.since, until: query.until, buckets: query.buckets };
  const { since, until } = window;
  const bucketMs = Math.max(1, Math.ceil((until - since) / window.buckets));
  const buckets = Array.from({ length: Math.max(1, Math.ceil((until - since) / bucketMs)) }, (_, i) => ({
    at: since + i * bucketMs,
    ...none,
  }));
  const removed = { ...none };
  for await (const step of inbox.counts({ since, until, partMs: bucketMs })) {
    for (const { part, verdict, count, isRemoved } of step) {
      const bucket = buckets[part];
      if (bucket === undefined) continue;
      bucket[verdict] += count;
      if (isRemoved) removed[verdict] += count;
    }
  }
  return { since, until, bucketMs, buckets, removed };
}

const minute = 60_000;
const day = 1440 * minute;

/** Fewer buckets than that would make one delivery a bar as wide as the chart. */
const fewestBuckets = 12;

/** The part of the last day in which something came, in whole minutes; a short one is in the middle of the window. */
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
  const length = [1, 2, 5, 10].find((minutes) => (last - first) / minutes < 60) ?? 30;
  const from = Math.floor((start / minute + first) / length);
  const count = Math.floor((start / minute + last) / length) - from + 1;
  const buckets = Math.max(count, fewestBuckets);
  const since = (from - Math.floor((buckets - count) / 2)) * length * minute;
  return { since, until: since + buckets * length * minute, buckets };
}

/** More leads that wait, or are dead, are not counted: they are read one by one. */
const mostRead = 1_000;

/** How many rows the list has of each filter. */
export async function countVerdicts(
  inbox: Pick<InboxReader, 'counts' | 'list'>,
  since = 0,
  until = Number.MAX_SAFE_INTEGER,
): Promise<WireCounts> {
  const counts = { ...none, waiting: 0, dead: 0 };
  for await (const step of inbox.counts({ since, until, partMs: Number.MAX_SAFE_INTEGER })) {
    for (const { verdict, count, isRemoved } of step) if (!isRemoved) counts[verdict] += count;
  }
  for (const state of ['waiting', 'dead'] as const) {
    for await (const _ of inbox.list({ verdicts: [state], since, until })) {
      counts[state] += 1;
      if (counts[state] === mostRead) break;
    }
  }
  return counts;
}

const none = { accepted: 0, duplicate: 0, rejected: 0, other: 0 };
