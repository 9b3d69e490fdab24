export const bucketUnits = ['hour', 'day', 'week'] as const;
export type BucketUnit = (typeof bucketUnits)[number];

const hour = 3_600_000;
const day = 24 * hour;

/** Milliseconds. UTC has neither summer time nor leap seconds in them, so all buckets of a unit are of one length. */
const bucketLength: Readonly<Record<BucketUnit, number>> = { hour, day, week: 7 * day };

/** The first Monday of the epoch: weeks begin on Mondays (ISO 8601). */
const monday = 4 * day;

/** When the bucket began in which a moment is, in UTC; both are milliseconds since the epoch. */
export function bucketStart(time: number, unit: BucketUnit): number {
  const origin = unit === 'week' ? monday : 0;
  const length = bucketLength[unit];
  return Math.floor((time - origin) / length) * length + origin;
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

  constructor(unit?: BucketUnit) {
    this.#wanted = unit;
    this.#unit = unit ?? 'hour';
  }

  /** Milliseconds since the epoch. */
  add(time: number): void {
    this.#addTo(bucketStart(time, this.#unit), 1);
    if (this.#counts.size > mostCounted && this.#unit !== 'week') {
      this.#lengthen(this.#unit === 'hour' ? 'day' : 'week');
    }
  }

  /** Whether leads were counted by a longer unit than the one that was asked for. */
  get isLengthened(): boolean {
    return this.#wanted !== undefined && this.#unit !== this.#wanted;
  }

  /** From the bucket of `from` to the one in which `to` ends, and as far beyond as leads are; `unit` is the least wanted one. */
  series(from: number | undefined, to: number | undefined, unit?: BucketUnit): Series {
    const starts = [...this.#counts.keys()];
    let first = from ?? Infinity;
    let last = to === undefined ? -Infinity : Math.max(to - 1, from ?? -Infinity);
    for (const start of starts) {
      if (start < first) first = start;
      if (start > last) last = start;
    }
    const natural = this.#wanted ?? (last - first > shownByHour ? 'day' : 'hour');
    this.#lengthen(longer(unit ?? natural, this.#unit));
    return { unit: this.#unit, buckets: this.#listed(first, last) };
  }

  #listed(first: number, last: number): Bucket[] {
    const length = bucketLength[this.#unit];
    const begin = bucketStart(first, this.#unit);
    const end = bucketStart(last, this.#unit);
    if (!(end >= begin)) return [];
    const amount = (end - begin) / length + 1;
    if (amount > mostListed) {
      return [...this.#counts].sort(([a], [b]) => a - b).map(([start, count]) => ({ start, count }));
    }
    return Array.from({ length: amount }, (_, i) => {
      const start = begin + i * length;
      return { start, count: this.#counts.get(start) ?? 0 };
    });
  }

  #lengthen(unit: BucketUnit): void {
    if (unit === this.#unit) return;
    const before = this.#counts;
    this.#counts = new Map();
    this.#unit = unit;
    for (const [start, count] of before) this.#addTo(bucketStart(start, unit), count);
  }

  #addTo(start: number, count: number): void {
    this.#counts.set(start, (this.#counts.get(start) ?? 0) + count);
  }
}

const longer = (a: BucketUnit, b: BucketUnit): BucketUnit => (bucketLength[a] > bucketLength[b] ? a : b);
