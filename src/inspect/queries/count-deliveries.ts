import type { InboxQuery, InboxReader } from '../../inbox/inbox.ts';
import type { WireCounts } from '../wire.ts';

const minute = 60_000;
const day = 1440 * minute;

/** Waiting and dead leads are read one by one, so they are counted only up to this number. */
const mostRead = 1_000;

const noDeliveries = { accepted: 0, duplicate: 0, rejected: 0, other: 0 };

export async function countDeliveries(
  inbox: Pick<InboxReader, 'counts' | 'list'>,
  { since, until }: Pick<InboxQuery, 'since' | 'until'>,
  now: number,
): Promise<WireCounts> {
  const rows = { ...noDeliveries, waiting: 0, dead: 0 };
  const inOnePart = {
    since: since ?? 0,
    until: until ?? Number.MAX_SAFE_INTEGER,
    partMs: Number.MAX_SAFE_INTEGER,
  };
  for await (const counts of inbox.counts(inOnePart)) {
    for (const { verdict, count, isRemoved } of counts) if (!isRemoved) rows[verdict] += count;
  }
  for (const state of ['waiting', 'dead'] as const) {
    for await (const _ of inbox.list({ verdicts: [state], since, until })) {
      rows[state] += 1;
      if (rows[state] === mostRead) break;
    }
  }
  const end = Math.min(until ?? now, now);
  const start = since ?? (await firstOfLastDay(inbox, end));
  return { rows, ...(await countByTime(inbox, Math.min(start, end), end)) };
}

/** Lengths that people use, so that a chart has 12 to 60 buckets. */
const bucketMinutes = [1, 2, 5, 10, 30, 60, 180, 360, 720, 1440, 10_080, 43_200];
const mostBuckets = 60;
const fewestBuckets = 12;

async function countByTime(
  inbox: Pick<InboxReader, 'counts'>,
  start: number,
  until: number,
): Promise<Omit<WireCounts, 'rows'>> {
  const durationMs = until - start;
  const usualMs = bucketMinutes.map((minutes) => minutes * minute);
  const bucketMs = usualMs.find((ms) => durationMs / ms < mostBuckets) ?? Math.ceil(durationMs / mostBuckets);
  // Buckets are numbered from the epoch, so that each begins at a full minute, hour or day.
  const endNumber = Math.floor(until / bucketMs) + 1;
  const firstNumber = Math.min(Math.floor(start / bucketMs), endNumber - fewestBuckets);
  const since = firstNumber * bucketMs;
  const length = endNumber - firstNumber;
  const buckets = Array.from({ length }, (_, i) => ({ at: since + i * bucketMs, ...noDeliveries }));
  for await (const counts of inbox.counts({ since, until: endNumber * bucketMs, partMs: bucketMs })) {
    for (const { part, verdict, count } of counts) {
      const bucket = buckets[part];
      if (bucket !== undefined) bucket[verdict] += count;
    }
  }
  return { since, bucketMs, buckets };
}

/** The minute of the first delivery of the last day before `end`; `end` where that day has none. */
async function firstOfLastDay(inbox: Pick<InboxReader, 'counts'>, end: number): Promise<number> {
  const start = Math.floor(end / minute) * minute - day;
  let first = end;
  for await (const counts of inbox.counts({ since: start, until: end + 1, partMs: minute })) {
    for (const { part } of counts) first = Math.min(first, start + part * minute);
  }
  return first;
}
