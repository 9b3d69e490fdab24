import type { RemovedCount, StoredReceipt } from '../inbox/query-types.ts';

/** A stored delivery of one lead. */
export interface CountedDelivery extends Omit<StoredReceipt, 'seq' | 'lead'> {
  /** The creation of the lead, in milliseconds since the epoch; undefined where it cannot be read. */
  readonly createdAt: number | undefined;
}

/** Times are since the epoch. */
export type ReceiptFigures = ReturnType<ReceiptCounts['figures']>;

interface Gap {
  readonly start: number;
  readonly ms: number;
}

/**
 * Counts the deliveries of a window; a receipt is a pushed one that was accepted or a duplicate. The stored ones are added first, newest first; then the removed ones, those that the inbox
 * has deleted and keeps only as numbers. Leads of which the first delivery was added need no memory of their ids, since no delivery
 * of them follows it. `#leadsWithoutFirst` has those of which only repeats were added so far: at the end, their first deliveries
 * are removed or before the window.
 */
export class ReceiptCounts {
  readonly #verdicts = { accepted: 0, duplicate: 0, rejected: 0, other: 0 };
  readonly #byReason = new Map<string, number>();
  readonly #delays: number[] = [];
  readonly #receiptTimes: number[] = [];
  #leadsWithFirst = 0;
  readonly #leadsWithoutFirst = new Set<string>();
  #backfilled = 0;
  #hasRemovedBackfills = false;
  #hasRemovedRepeats = false;
  undatedLeads = 0;
  /** Leads whose first delivery came in the window and is not stored any more. */
  removedLeads = 0;

  add({ receivedAt, leadId = '', verdict, reason, attempt, source, createdAt }: CountedDelivery): void {
    if (source === 'backfill') {
      if (attempt === 1) this.#backfilled += 1;
      return;
    }
    this.#countVerdict(verdict, 1, reason);
    if (verdict !== 'accepted' && verdict !== 'duplicate') return;
    this.#receiptTimes.push(receivedAt);
    if (attempt > 1) {
      this.#leadsWithoutFirst.add(leadId);
      return;
    }
    this.#leadsWithoutFirst.delete(leadId);
    this.#leadsWithFirst += 1;
    if (createdAt === undefined) this.undatedLeads += 1;
    // Clocks differ: a lead may seem to come before it was created.
    else this.#delays.push(Math.max(0, receivedAt - createdAt));
  }

  /** Adds removed deliveries. The inbox keeps only how many came in each minute: they have no delay and end no gap. */
  addRemoved({ verdict, reason, source, isRepeat, count }: RemovedCount): void {
    this.#hasRemovedBackfills ||= source === 'backfill';
    if (source === 'backfill') return;
    this.#countVerdict(verdict, count, reason);
    if (verdict !== 'accepted' && verdict !== 'duplicate') return;
    if (isRepeat) this.#hasRemovedRepeats = true;
    else this.removedLeads += count;
  }

  #countVerdict(verdict: CountedDelivery['verdict'], count: number, reason = 'unknown'): void {
    this.#verdicts[verdict] += count;
    if (verdict === 'rejected') this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count);
  }

  /**
   * All times are milliseconds since the epoch. A window without `start` begins with the first receipt. `lastReceiptBefore` is the
   * time of the last stored receipt before `start`, or undefined.
   */
  figures(start: number | undefined, lastReceiptBefore: number | undefined, end: number, unfilterable = 0) {
    const { accepted, duplicate, rejected } = this.#verdicts;
    const receipts = accepted + duplicate;
    // This assumes that as many stored leads as possible had their first delivery among the removed ones.
    const fewestLeads = this.#leadsWithFirst + Math.max(this.#leadsWithoutFirst.size, this.removedLeads);
    const hasReceipts = lastReceiptBefore !== undefined || receipts > 0;
    // The time before the first receipt of all is no gap, but without any receipt the whole window is one.
    const gapStart = lastReceiptBefore ?? (hasReceipts ? undefined : start);
    return {
      /** `other`: genuine deliveries without a lead, such as of other events; no other figure includes them. */
      ...this.#verdicts,
      received: receipts + rejected,
      /** Removed deliveries that may match the filter, which cannot see them any more; no other figure includes them. */
      unfilterable,
      /** Whether a receipt came in or before the window; removed ones count. */
      hasReceipts,
      byReason: this.#byReason,
      /** Leads that were pulled and not pushed; they are no deliveries. */
      backfilled: this.#backfilled,
      /** From a lead's creation to its first receipt, in milliseconds. */
      delayMs: percentiles(this.#delays),
      /** Null without receipts. It is only an upper bound where removed receipts may belong to leads that no other delivery shows. */
      attemptsPerLead: receipts === 0 ? null : receipts / Math.max(1, fewestLeads),
      isAttemptsUpperBound: this.#mayHaveMoreLeads(start),
      /**
       * The longest time between two receipts, of which the first may be before the window, or from the last one to the end of the
       * window. Where nothing ever came it is the window, or undefined for one without a beginning; it is undefined as well where
       * all receipts were removed, as they have no time.
       */
      longestGap: longestGap(this.#receiptTimes, gapStart, end),
    };
  }

  /** If each lead was pushed first in the window, then the first deliveries, stored and removed, are all leads. */
  #mayHaveMoreLeads(start: number | undefined): boolean {
    if (start === undefined && this.#backfilled === 0 && !this.#hasRemovedBackfills) return false;
    return this.#hasRemovedRepeats || (this.#leadsWithoutFirst.size > 0 && this.removedLeads > 0);
  }
}

/** By nearest rank: the smallest value that so many percent of all do not exceed. */
function percentiles(
  delays: readonly number[],
): Readonly<Record<'p50' | 'p90' | 'p95' | 'p99', number | null>> {
  const sorted = Float64Array.from(delays).sort();
  const atShare = (share: number): number | null =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
  return { p50: atShare(0.5), p90: atShare(0.9), p95: atShare(0.95), p99: atShare(0.99) };
}

/**
 * `gapStart` begins the first gap; without it, the first receipt does. Deliveries are numbered when they are stored, so that
 * their times are only nearly in order, and a receiver may go on receiving after the end.
 */
function longestGap(times: readonly number[], gapStart: number | undefined, end: number): Gap | undefined {
  const sorted = Float64Array.from(times)
    .filter((time) => time <= end)
    .sort();
  const first = gapStart ?? sorted[0];
  if (first === undefined) return undefined;
  let longest: Gap = { start: first, ms: 0 };
  let previous = first;
  for (let i = 0; i <= sorted.length; i += 1) {
    const time = sorted[i] ?? end;
    if (time - previous > longest.ms) longest = { start: previous, ms: time - previous };
    previous = time;
  }
  return longest;
}
