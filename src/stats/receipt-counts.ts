import { LatencyHistogram } from '../sender/delivery-run.ts';

/** What is counted of one stored delivery of one lead. */
export interface Receipt {
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly leadId: string | undefined;
  readonly verdict: 'accepted' | 'duplicate' | 'rejected' | 'other';
  readonly reason: string | undefined;
  readonly attempt: number;
  readonly source: 'push' | 'backfill';
  /** When the lead was created, in milliseconds since the epoch; undefined where that cannot be read. */
  readonly createdAt: number | undefined;
}

/** Deliveries that came and are not stored any more: the most that there may have been. */
export interface NotKept {
  readonly rejected: number;
  readonly repeats: number;
}

export interface ReceiptFigures {
  /** Deliveries, of which the next three are the verdicts. */
  readonly received: number;
  readonly accepted: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly byReason: ReadonlyMap<string, number>;
  /** Genuine deliveries that hold no lead, as far as they are kept: they are in none of the other figures. */
  readonly other: number;
  /** Leads that the service did not push, or not in time: they were pulled, and are none of the deliveries. */
  readonly backfilled: number;
  /** From a lead's creation to its first receipt, in milliseconds. */
  readonly delayMs: DelayFigures;
  /** Null where no lead was taken in. */
  readonly attemptsPerLead: number | null;
  /**
   * Between two receipts, of which the first may be before the window, or from the last one to the window's end. Where
   * nothing ever came it is the window, or undefined for one without a beginning.
   */
  readonly longestGap: Gap | undefined;
  /** Whether a delivery was taken in before the window's end. */
  readonly hasReceipts: boolean;
  /** In none of the other figures. */
  readonly notKept: NotKept;
}

/** Deliveries that came and are not stored any more, as they were counted. */
export interface RemovedFigures {
  readonly verdicts: Readonly<Record<Receipt['verdict'], number>>;
  readonly byReason: ReadonlyMap<string, number>;
  /** Those that brought a lead first. */
  readonly first: number;
}

/** Counts deliveries that come newest first; memory holds the ids of leads that came more than once, and no others. */
export class ReceiptCounts {
  readonly #verdicts = { accepted: 0, duplicate: 0, rejected: 0, other: 0 };
  readonly #byReason = new Map<string, number>();
  readonly #delays = new DelayPercentiles();
  readonly #gaps: ReceiptGaps;
  readonly #repeated = new Set<string>();
  #leads = 0;
  #backfilled = 0;
  #undated = 0;

  /** `end` of the window, in milliseconds since the epoch. */
  constructor(end: number) {
    this.#gaps = new ReceiptGaps(end);
  }

  /** Leads that have no creation time that can be read. */
  get undated(): number {
    return this.#undated;
  }

  /** Whether it is the newest one that brought a lead again: only then its attempt says how often that was. */
  add({ receivedAt, leadId = '', verdict, reason, attempt, source, createdAt }: Receipt): boolean {
    if (source === 'backfill') {
      // One that was pushed meanwhile came by itself.
      if (attempt === 1) this.#backfilled += 1;
      return false;
    }
    this.#verdicts[verdict] += 1;
    if (verdict === 'other') return false;
    if (verdict === 'rejected') {
      this.#byReason.set(reason ?? 'unknown', (this.#byReason.get(reason ?? 'unknown') ?? 0) + 1);
      return false;
    }
    this.#gaps.add(receivedAt);
    if (attempt > 1) {
      const isNewest = !this.#repeated.has(leadId);
      this.#repeated.add(leadId);
      if (isNewest) this.#leads += 1;
      return isNewest;
    }
    if (!this.#repeated.has(leadId)) this.#leads += 1;
    if (createdAt === undefined) this.#undated += 1;
    else this.#delays.add(receivedAt - createdAt);
    return false;
  }

  /**
   * `start`: when the window began; `before`: when the last delivery before that was taken in, since a silence that began
   * then may be shorter than what is expected on each side of the border, and longer as a whole.
   */
  figures(
    start: number | undefined,
    before: number | undefined,
    notKept: NotKept,
    removed?: RemovedFigures,
  ): ReceiptFigures {
    const count = (verdict: Receipt['verdict']): number =>
      this.#verdicts[verdict] + (removed?.verdicts[verdict] ?? 0);
    const [accepted, duplicate] = [count('accepted'), count('duplicate')];
    const rejected = count('rejected');
    const leads = this.#leads + (removed?.first ?? 0);
    const byReason = new Map(this.#byReason);
    for (const [reason, more] of removed?.byReason ?? [])
      byReason.set(reason, (byReason.get(reason) ?? 0) + more);
    const taken = accepted + duplicate;
    const { newest } = this.#gaps;
    return {
      received: taken + rejected,
      accepted,
      duplicate,
      rejected,
      byReason,
      other: count('other'),
      backfilled: this.#backfilled,
      delayMs: this.#delays.figures(),
      attemptsPerLead: leads === 0 ? null : taken / leads,
      longestGap: this.#gaps.longest(before ?? (newest === undefined ? start : undefined)),
      hasReceipts: (before ?? newest) !== undefined,
      notKept,
    };
  }
}

/** Durations of which each is kept, 8 bytes each. */
const mostExact = 1_000_000;

/** In milliseconds; null as long as nothing was measured. */
interface DelayFigures {
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/**
 * Percentiles by nearest rank (the smallest value that so many percent of all do not exceed): exact for a million
 * durations, and to within 0.8% in fixed memory for more.
 */
export class DelayPercentiles {
  #values = new Float64Array(1024);
  #count = 0;
  /** Its unit is the second here, so that it counts whole milliseconds, up to years. */
  #histogram: LatencyHistogram | undefined;

  /** In whole milliseconds; what is below zero, by clocks that differ, counts as zero. */
  add(ms: number): void {
    const value = Math.max(0, ms);
    if (this.#count === mostExact) this.#countFromNowOn();
    this.#count += 1;
    if (this.#histogram !== undefined) {
      this.#histogram.add(value / 1000);
      return;
    }
    if (this.#count > this.#values.length) this.#grow();
    this.#values[this.#count - 1] = value;
  }

  figures(): DelayFigures {
    const sorted = this.#values.slice(0, this.#histogram === undefined ? this.#count : 0).sort();
    const at = (share: number): number | null => {
      if (this.#histogram !== undefined) return Math.round((this.#histogram.atShare(share) ?? 0) * 1000);
      return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
    };
    return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
  }

  #countFromNowOn(): void {
    const histogram = new LatencyHistogram();
    for (const value of this.#values.subarray(0, this.#count)) histogram.add(value / 1000);
    this.#histogram = histogram;
    this.#values = new Float64Array();
  }

  #grow(): void {
    const grown = new Float64Array(Math.min(2 * this.#values.length, mostExact));
    grown.set(this.#values);
    this.#values = grown;
  }
}

/** Receipts that are held back to be put in order. */
const heldReceipts = 65_536;

/** The longest time between two receipts that follow each other. */
interface Gap {
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly ms: number;
}

/**
 * The longest gap between receipts that come newest first, nearly: deliveries are numbered when they are stored, which may
 * be seconds after they came. Memory is the same for any number of them.
 */
export class ReceiptGaps {
  #held = new Float64Array(2 * heldReceipts);
  #count = 0;
  /** The earliest receipt so far of those that are in order, or the end of the window. */
  #earliest: number;
  #longest: Gap | undefined;
  #newest: number | undefined;

  /** `end` of the window, in milliseconds since the epoch: nothing came between the newest receipt and then. */
  constructor(end: number) {
    this.#earliest = end;
  }

  /** The latest receipt, in milliseconds since the epoch; undefined where there is none. */
  get newest(): number | undefined {
    return this.#newest;
  }

  /** Milliseconds since the epoch. */
  add(time: number): void {
    this.#newest = Math.max(time, this.#newest ?? -Infinity);
    this.#held[this.#count] = time;
    this.#count += 1;
    if (this.#count === this.#held.length) this.#take(heldReceipts);
  }

  /** `before`: since when nothing had come at the earliest of the receipts, where that is known. */
  longest(before?: number): Gap | undefined {
    this.#take(this.#count);
    if (before !== undefined) this.#follow(before);
    return this.#longest;
  }

  /** The newest of those that are held. */
  #take(amount: number): void {
    const times = this.#held.subarray(0, this.#count).sort();
    const rest = this.#count - amount;
    for (let i = this.#count - 1; i >= rest; i -= 1) this.#follow(times[i] ?? 0);
    this.#count = rest;
  }

  #follow(time: number): void {
    const ms = this.#earliest - time;
    if (ms < 0) return;
    this.#earliest = time;
    if (this.#longest === undefined || ms > this.#longest.ms) this.#longest = { start: time, ms };
  }
}
