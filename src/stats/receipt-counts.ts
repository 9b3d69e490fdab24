import type { DeliveryCount, StoredReceipt } from '../inbox/query-types.ts';

/** A stored delivery of one lead. `createdAt`: of the lead, in milliseconds since the epoch, where it can be read. */
export interface CountedDelivery extends Omit<StoredReceipt, 'seq' | 'lead'> {
  readonly createdAt: number | undefined;
}

/** Here and in `ReceiptCounts`, a receipt is a pushed delivery that was accepted or a duplicate. */
export interface ReceiptFigures {
  /** All deliveries with one of the next three verdicts. */
  readonly received: number;
  readonly accepted: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly byReason: ReadonlyMap<string, number>;
  /** Genuine deliveries without a lead; no other figure includes them. */
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
  /** Deliveries that are not stored any more, so that no filter can choose among them. */
  readonly unjudged: number;
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
  readonly #times: number[] = [];
  /** The leads of several attempts. The first attempt is added last, so that a lead that came once need not be remembered. */
  readonly #repeated = new Set<string>();
  #leads = 0;
  #backfilled = 0;
  #hasRemovedReceipts = false;
  undated = 0;
  /** Leads whose first delivery is not stored any more. */
  removedLeads = 0;

  add({ receivedAt, leadId = '', verdict, reason, attempt, source, createdAt }: CountedDelivery): void {
    if (source === 'backfill') {
      // A lead that had been pushed before is a repeat here.
      if (attempt === 1) this.#backfilled += 1;
      return;
    }
    this.#countVerdict(verdict, reason, 1);
    if (verdict !== 'accepted' && verdict !== 'duplicate') return;
    this.#times.push(receivedAt);
    if (!this.#repeated.has(leadId)) this.#leads += 1;
    if (attempt > 1) this.#repeated.add(leadId);
    else if (createdAt === undefined) this.undated += 1;
    // Clocks differ: a lead may seem to come before it was created.
    else this.#delays.push(Math.max(0, receivedAt - createdAt));
  }

  /** Adds removed deliveries. The inbox keeps only how many came in each minute: they have no delay and end no gap. */
  addRemoved({ verdict, reason, source, attempt, count }: DeliveryCount): void {
    if (source === 'backfill') return;
    this.#countVerdict(verdict, reason, count);
    if (verdict !== 'accepted' && verdict !== 'duplicate') return;
    this.#hasRemovedReceipts = true;
    if (attempt > 1) return;
    this.#leads += count;
    this.removedLeads += count;
  }

  #countVerdict(verdict: CountedDelivery['verdict'], reason = 'unknown', count: number): void {
    this.#verdicts[verdict] += count;
    if (verdict === 'rejected') this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count);
  }

  /** The times are in milliseconds since the epoch; `before` is the last receipt before the window. */
  figures(start: number | undefined, before: number | undefined, end: number, unjudged = 0): ReceiptFigures {
    const { accepted, duplicate, rejected } = this.#verdicts;
    const stored = accepted + duplicate;
    const hasReceipts = before !== undefined || this.#times.length > 0 || this.#hasRemovedReceipts;
    // The time before the first receipt of all is no gap, but without any receipt the whole window is one.
    const gapStart = before ?? (hasReceipts ? undefined : start);
    return {
      ...this.#verdicts,
      ...{ received: stored + rejected, unjudged, hasReceipts },
      byReason: this.#byReason,
      backfilled: this.#backfilled,
      delayMs: percentiles(this.#delays),
      attemptsPerLead: this.#leads === 0 ? null : stored / this.#leads,
      longestGap: longestGap(this.#times, gapStart, end),
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

/** Deliveries are numbered when they are stored, so that their times are only nearly in order. */
function longestGap(times: readonly number[], gapStart: number | undefined, end: number): Gap | undefined {
  // A receiver may go on receiving after the end.
  const sorted = Float64Array.from(times)
    .filter((time) => time <= end)
    .sort();
  let start = gapStart ?? sorted[0];
  let longest: Gap | undefined;
  for (let i = 0; start !== undefined && i <= sorted.length; i += 1) {
    const next = sorted[i] ?? end;
    if (longest === undefined || next - start > longest.ms) longest = { start, ms: next - start };
    start = next;
  }
  return longest;
}
