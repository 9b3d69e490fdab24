import { offsetAt, quarter, startOfDays } from '../time/zone.ts';

export const bucketUnits = ['hour', 'day', 'week'] as const;
export type BucketUnit = (typeof bucketUnits)[number];

const hour = 3_600_000;
const day = 24 * hour;

/** Milliseconds. A day or a week in which clocks are changed is an hour shorter or longer. */
const bucketLength: Readonly<Record<BucketUnit, number>> = { hour, day, week: 7 * day };

/** The start of the bucket that holds `time`, or of the `later`th bucket after it; all in milliseconds since the epoch. */
export function bucketStart(time: number, unit: BucketUnit, zone = 'UTC', later = 0): number {
  if (unit !== 'hour') return startOfDays(time, unit, zone, later);
  const start = hourStart(time, zone);
  return later === 0 ? start : bucketStart(start + later * hour, unit, zone);
}

/**
 * The last whole hour on a clock of the zone, or the change of its offset if that is later: where clocks are changed by half an hour,
 * such as in Australia/Lord_Howe, an hour ends in its middle and the next one begins there.
 */
function hourStart(time: number, zone: string): number {
  const offset = offsetAt(time, zone);
  let start = Math.floor((time + offset) / hour) * hour - offset;
  while (offsetAt(start, zone) !== offset && start + quarter <= time) start += quarter;
  return start;
}

export interface Series {
  readonly unit: BucketUnit;
  /** In order. Empty buckets are among them, unless there would be too many. */
  readonly buckets: readonly { readonly start: number; readonly count: number }[];
}

const mostEmptyListed = 10_000;
const longestByHour = 2 * day;
const longestByDay = 62 * day;

/** Counts times by the hour, of which days and weeks are made once the span is known. */
export class TimeCounts {
  readonly #byHour = new Map<number, number>();
  readonly #zone: string;

  constructor(zone = 'UTC') {
    this.#zone = zone;
  }

  add(time: number): void {
    const start = bucketStart(time, 'hour', this.#zone);
    this.#byHour.set(start, (this.#byHour.get(start) ?? 0) + 1);
  }

  /**
   * From the bucket of `from` to the one in which `to` ends, and further where counted times are outside of them. Without any time
   * `first` and `last` are Infinity and `span` is NaN, with which no comparison is true: the unit is the hour then.
   */
  series(chosen: BucketUnit | undefined, from: number | undefined, to: number | undefined): Series {
    const hours = [...this.#byHour].sort(([a], [b]) => a - b);
    const first = Math.min(from ?? Infinity, hours[0]?.[0] ?? Infinity);
    const last = Math.max(
      to === undefined ? -Infinity : to - 1,
      from ?? -Infinity,
      hours.at(-1)?.[0] ?? first,
    );
    const span = last - first;
    const unit = chosen ?? (span > longestByDay ? 'week' : span > longestByHour ? 'day' : 'hour');
    const startOf = (time: number, later?: number): number => bucketStart(time, unit, this.#zone, later);
    const counts = new Map<number, number>();
    if (first < Infinity && span / bucketLength[unit] <= mostEmptyListed) {
      for (let start = startOf(first); start <= last; start = startOf(start, 1)) counts.set(start, 0);
    }
    for (const [time, count] of hours) counts.set(startOf(time), (counts.get(startOf(time)) ?? 0) + count);
    return { unit, buckets: [...counts].map(([start, count]) => ({ start, count })) };
  }
}
