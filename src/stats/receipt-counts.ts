import { IdSet } from '../lead/id-set.ts';
import { type DelayFigures, DelayPercentiles } from './delay-percentiles.ts';
import { type Gap, ReceiptGaps } from './receipt-gaps.ts';

/** What is counted of one stored delivery of one lead. */
export interface Receipt {
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly leadId: string | undefined;
  readonly verdict: 'accepted' | 'duplicate' | 'pending' | 'rejected';
  readonly reason: string | undefined;
  readonly attempt: number;
  readonly source: 'push' | 'backfill';
  /** When the lead was created, in milliseconds since the epoch; undefined where that cannot be read. */
  readonly createdAt: number | undefined;
}

/** Deliveries that came and are not stored any more: the most that there may have been, perhaps `Infinity`. */
export interface NotKept {
  readonly rejected: number;
  readonly repeats: number;
}

export interface ReceiptFigures {
  /** Deliveries, of which the next four are the verdicts. */
  readonly received: number;
  readonly accepted: number;
  readonly duplicate: number;
  readonly pending: number;
  readonly rejected: number;
  readonly byReason: ReadonlyMap<string, number>;
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

/** Counts deliveries that come newest first; memory holds the ids of leads that came more than once, and no others. */
export class ReceiptCounts {
  readonly #verdicts = { accepted: 0, duplicate: 0, pending: 0, rejected: 0 };
  readonly #byReason = new Map<string, number>();
  readonly #delays = new DelayPercentiles();
  readonly #gaps: ReceiptGaps;
  readonly #repeated = new IdSet();
  #leads = 0;
  #backfilled = 0;
  #undated = 0;

  /** `end` of the window, in milliseconds since the epoch. */
  constructor(end: number) {
    this.#gaps = new ReceiptGaps(end);
  }

  /** When the latest delivery came that was taken in, in milliseconds since the epoch. */
  get newest(): number | undefined {
    return this.#gaps.newest;
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
    if (verdict === 'rejected') {
      this.#byReason.set(reason ?? 'unknown', (this.#byReason.get(reason ?? 'unknown') ?? 0) + 1);
      return false;
    }
    this.#gaps.add(receivedAt);
    if (attempt > 1) {
      const isNewest = this.#repeated.add(leadId) === 'new';
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
  figures(start: number | undefined, before: number | undefined, notKept: NotKept): ReceiptFigures {
    const { accepted, duplicate, pending, rejected } = this.#verdicts;
    const taken = accepted + duplicate + pending;
    const { newest } = this.#gaps;
    return {
      received: taken + rejected,
      accepted,
      duplicate,
      pending,
      rejected,
      byReason: this.#byReason,
      backfilled: this.#backfilled,
      delayMs: this.#delays.figures(),
      attemptsPerLead: this.#leads === 0 ? null : taken / this.#leads,
      longestGap: this.#gaps.longest(before ?? (newest === undefined ? start : undefined)),
      hasReceipts: (before ?? newest) !== undefined,
      notKept,
    };
  }
}
