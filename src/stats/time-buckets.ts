import { offsetAt, startOfDays } from '../time/zone.ts';

export const bucketUnits = ['hour', 'day', 'week'] as const;
export type BucketUnit = (typeof bucketUnits)[number];

const hour = 3_600_000;
const day = 24 * hour;

/** Milliseconds; where clocks are set forward or back, a day or a week is an hour shorter or longer. */
const bucketLength: Readonly<Record<BucketUnit, number>> = { hour, day, week: 7 * day };

/** When the bucket began in which a moment is, or the `later`th behind it; both are milliseconds since the epoch. */
export function bucketStart(time: number, unit: BucketUnit, zone = 'UTC', later = 0): number {
  if (unit !== 'hour') return startOfDays(time, unit, zone, later);
  const offset = offsetAt(time, zone);
  const start = Math.floor((time + offset) / hour) * hour - offset;
  return later === 0 ? start : bucketStart(start + later * hour, unit, zone);
}

export interface Bucket {
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly count: number;
}

export interface Series {
  readonly unit: BucketUnit;
  /** In order. Buckets without a lead are among them, unless there were too many. */
  readonly buckets: readonly Bucket[];
}

/** Buckets of which empty ones are listed. */
const mostListed = 10_000;

/** Buckets that are counted at once: leads spread over more than that are counted by a longer unit. */
const mostCounted = 100_000;

/** Spans that are shown by the hour where nobody chose a unit. */
const shownByHour = 2 * day;

/** How many leads fall into each hour, day or week. Without a unit it is chosen at the end, by the span. */
export class BucketCounts {
  readonly #wanted: BucketUnit | undefined;
  #unit: BucketUnit;
  #counts = new Map<number, number>();

  readonly #zone: string;

  constructor(unit?: BucketUnit, zone = 'UTC') {
    this.#zone = zone;
    this.#wanted = unit;
    this.#unit = unit ?? 'hour';
  }

  /** Milliseconds since the epoch. */
  add(time: number): void {
    this.#addTo(this.#startOf(time), 1);
    if (this.#counts.size > mostCounted && this.#unit !== 'week') {
      this.#lengthen(this.#unit === 'hour' ? 'day' : 'week');
    }
  }

  /** Whether leads were counted by a longer unit than the one that was asked for. */
  get isLengthened(): boolean {
    return this.#wanted !== undefined && this.#unit !== this.#wanted;
  }

  /** From the bucket of `from` to the one in which `to` ends, and as far beyond as leads are. */
  series(from: number | undefined, to: number | undefined): Series {
    const starts = [...this.#counts.keys()];
    let first = from ?? Infinity;
    let last = to === undefined ? -Infinity : Math.max(to - 1, from ?? -Infinity);
    for (const start of starts) {
      if (start < first) first = start;
      if (start > last) last = start;
    }
    const natural = this.#wanted ?? (last - first > shownByHour ? 'day' : 'hour');
    this.#lengthen(longer(natural, this.#unit));
    return { unit: this.#unit, buckets: this.#listed(first, last) };
  }

  #listed(first: number, last: number): Bucket[] {
    if (!(last >= first)) return [];
    if ((last - first) / bucketLength[this.#unit] > mostListed) {
      return [...this.#counts].sort(([a], [b]) => a - b).map(([start, count]) => ({ start, count }));
    }
    const listed: Bucket[] = [];
    for (let start = this.#startOf(first); start <= last; start = this.#startOf(start, 1)) {
      listed.push({ start, count: this.#counts.get(start) ?? 0 });
    }
    return listed;
  }

  #lengthen(unit: BucketUnit): void {
    if (unit === this.#unit) return;
    const before = this.#counts;
    this.#counts = new Map();
    this.#unit = unit;
    for (const [start, count] of before) this.#addTo(this.#startOf(start), count);
  }

  #startOf(time: number, later = 0): number {
    return bucketStart(time, this.#unit, this.#zone, later);
  }

  #addTo(start: number, count: number): void {
    this.#counts.set(start, (this.#counts.get(start) ?? 0) + count);
  }
}

const longer = (a: BucketUnit, b: BucketUnit): BucketUnit => (bucketLength[a] > bucketLength[b] ? a : b);
