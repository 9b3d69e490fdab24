import { setImmediate } from 'node:timers/promises';
import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import type { WireBucket, WireCharts } from '../wire.ts';
import type { ChartQuery } from './query-types.ts';
import { leadIn } from './delivery-row.ts';

/** Deliveries that one chart looks at: those of a busy day may be millions. */
const mostLooked = 20_000;

/** Deliveries before the window that end the reading: they are stored in the order of their times, or nearly so. */
const mostBefore = 500;

/** Deliveries that are looked at before other work gets its turn. */
const atOnce = 200;

/** Bars of `WireCharts.attempts`; the last one stands for more. */
const mostAttempts = 10;

interface Counts {
  readonly verdicts: Record<StoredDelivery['verdict'], number>;
  readonly delays: number[];
}

/** Counts what was received in a window, newest first, and says from which time on where it is too much. */
export async function countCharts(
  inbox: Pick<InboxReader, 'list'>,
  { since, until, buckets }: ChartQuery,
): Promise<WireCharts> {
  const bucketMs = Math.max(1, Math.ceil((until - since) / buckets));
  const count = Math.max(1, Math.ceil((until - since) / bucketMs));
  const counts = Array.from({ length: count }, (): Counts => ({ verdicts: { ...none }, delays: [] }));
  /** By lead, the number of its last delivery. */
  const attempts = new Map<string, number>();
  let cutAt: number | null = null;
  let looked = 0;
  let before = 0;
  for await (const delivery of inbox.list({ until })) {
    const { receivedAt, verdict, leadId, attempt } = delivery;
    looked += 1;
    if (looked % atOnce === 0) await setImmediate();
    if (receivedAt < since) {
      before += 1;
      if (before > mostBefore) break;
      continue;
    }
    before = 0;
    const bucket = counts[Math.floor((receivedAt - since) / bucketMs)];
    if (bucket === undefined) continue;
    bucket.verdicts[verdict] += 1;
    if (verdict !== 'rejected' && leadId !== undefined) {
      attempts.set(leadId, Math.max(attempt, attempts.get(leadId) ?? 0));
      const delay = attempt === 1 ? delayOf(delivery) : undefined;
      if (delay !== undefined) bucket.delays.push(delay);
    }
    if (looked === mostLooked) {
      cutAt = receivedAt;
      break;
    }
  }
  return {
    since,
    until,
    bucketMs,
    buckets: counts.map((bucket, i) => wireBucket(since + i * bucketMs, bucket)),
    attempts: byCount(attempts.values()),
    cutAt,
  };
}

const none = { accepted: 0, duplicate: 0, pending: 0, rejected: 0, other: 0 };

/** From the lead's creation to its receipt; clocks that differ may make it negative, which counts as none. */
function delayOf(delivery: StoredDelivery): number | undefined {
  const createdAt = readCreatedAt(leadIn(delivery)?.['createdAt']);
  return createdAt === undefined ? undefined : Math.max(0, delivery.receivedAt - createdAt);
}

function wireBucket(at: number, { verdicts, delays }: Counts): WireBucket {
  const sorted = delays.sort((a, b) => a - b);
  const delayP50 = sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
  return { at, ...verdicts, delayP50, delayMax: sorted.at(-1) ?? null };
}

function byCount(attempts: Iterable<number>): readonly number[] {
  const counted: number[] = [];
  for (const attempt of attempts) {
    const i = Math.min(attempt, mostAttempts) - 1;
    counted[i] = (counted[i] ?? 0) + 1;
  }
  return Array.from(counted, (value: number | undefined) => value ?? 0);
}
