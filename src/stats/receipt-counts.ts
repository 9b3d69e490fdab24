import type { DeliveryCount, StoredReceipt } from '../inbox/query-types.ts';

/** A stored delivery of one lead. */
export interface CountedDelivery extends Omit<StoredReceipt, 'seq' | 'lead'> {
  /** The creation of the lead, in milliseconds since the epoch; undefined where it cannot be read. */
  readonly createdAt: number | undefined;
}

/** Here and in `ReceiptCounts`, a receipt is a pushed delivery that was accepted or a duplicate. Times are since the epoch. */
export interface ReceiptFigures {
  /** All deliveries with one of the next three verdicts. */
  readonly received: number;
  readonly accepted: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly byReason: ReadonlyMap<string, number>;
  /** Genuine deliveries without a lead, such as of other events; no other figure includes them. */
  readonly other: number;
  /** Leads that were pulled and not pushed; they are no deliveries. */
  readonly backfilled: number;
  /** From a lead's creation to its first receipt, in milliseconds. */
  readonly delayMs: Readonly<Record<'p50' | 'p90' | 'p95' | 'p99', number | null>>;
  readonly attemptsPerLead: number | null;
  /**
   * The longest time between two receipts, of which the first may be before the window, or from the last one to the end of the
   * window. Where nothing ever came it is the window, or undefined for one without a beginning.
   */
  readonly longestGap: Gap | undefined;
  /** Whether a receipt came in or before the window. Removed ones count, but have no time. */
  readonly hasReceipts: boolean;
  /** Removed deliveries that may match the filter, which cannot see them any more; no other figure includes them. */
  readonly unfilterable: number;
}

interface Gap {
  readonly start: number;
  readonly ms: number;
}

/** Counts deliveries, which are added newest first. */
export class ReceiptCounts {
  readonly #verdicts = { accepted: 0, duplicate: 0, rejected: 0, other: 0 };
  readonly #byReason = new Map<string, number>();
  readonly #delays: number[] = [];
  readonly #receiptTimes: number[] = [];
  /** The leads of several attempts. The first attempt is added last, so that a lead that came once need not be remembered. */
  readonly #repeatedLeads = new Set<string>();
  #leadCount = 0;
  #backfilled = 0;
  #hasRemovedReceipts = false;
  undatedLeads = 0;
  /** Leads whose first delivery is not stored any more. */
  removedLeads = 0;

  add({ receivedAt, leadId = '', verdict, reason, attempt, source, createdAt }: CountedDelivery): void {
    if (source === 'backfill') {
      const wasPushedBefore = attempt > 1;
      if (!wasPushedBefore) this.#backfilled += 1;
      return;
    }
    this.#countVerdict(verdict, 1, reason);
    if (verdict !== 'accepted' && verdict !== 'duplicate') return;
    this.#receiptTimes.push(receivedAt);
    if (!this.#repeatedLeads.has(leadId)) this.#leadCount += 1;
    if (attempt > 1) this.#repeatedLeads.add(leadId);
    else if (createdAt === undefined) this.undatedLeads += 1;
    // Clocks differ: a lead may seem to come before it was created.
    else this.#delays.push(Math.max(0, receivedAt - createdAt));
  }

  /** Adds removed deliveries. The inbox keeps only how many came in each minute: they have no delay and end no gap. */
  addRemoved({ verdict, reason, source, attempt, count }: DeliveryCount): void {
    if (source === 'backfill') return;
    this.#countVerdict(verdict, count, reason);
    if (verdict !== 'accepted' && verdict !== 'duplicate') return;
    this.#hasRemovedReceipts = true;
    if (attempt > 1) return;
    this.#leadCount += count;
    this.removedLeads += count;
  }

  #countVerdict(verdict: CountedDelivery['verdict'], count: number, reason = 'unknown'): void {
    this.#verdicts[verdict] += count;
    if (verdict === 'rejected') this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count);
  }

  /** The times are in milliseconds since the epoch. A window without `start` has all receipts before `end`. */
  figures(
    start: number | undefined,
    lastReceiptBefore: number | undefined,
    end: number,
    unfilterable = 0,
  ): ReceiptFigures {
    const { accepted, duplicate, rejected } = this.#verdicts;
    const receipts = accepted + duplicate;
    const hasReceipts =
      lastReceiptBefore !== undefined || this.#receiptTimes.length > 0 || this.#hasRemovedReceipts;
    // The time before the first receipt of all is no gap, but without any receipt the whole window is one.
    const gapStart = lastReceiptBefore ?? (hasReceipts ? undefined : start);
    return {
      ...this.#verdicts,
      received: receipts + rejected,
      unfilterable,
      hasReceipts,
      byReason: this.#byReason,
      backfilled: this.#backfilled,
      delayMs: percentiles(this.#delays),
      attemptsPerLead: this.#leadCount === 0 ? null : receipts / this.#leadCount,
      longestGap: longestGap(this.#receiptTimes, gapStart, end),
    };
  }
}

/** By nearest rank: the smallest value that so many percent of all do not exceed. */
function percentiles(delays: readonly number[]): ReceiptFigures['delayMs'] {
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
  for (const time of [...sorted, end]) {
    if (time - previous > longest.ms) longest = { start: previous, ms: time - previous };
    previous = time;
  }
  return longest;
}
