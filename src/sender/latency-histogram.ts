/** Steps in each doubling: a value is known to within 0.8%. */
const stepsPerDoubling = 64;
const doublings = 32;
const microsecondsPerMs = 1000;

/** What a summary says of many durations, in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * Counts durations in fixed memory, however many there are: in steps of a microsecond up to 128 µs, then in 64 steps for
 * each doubling, up to 38 hours. The idea is that of HdrHistogram (http://hdrhistogram.org).
 */
export class LatencyHistogram {
  readonly #counts = new Float64Array(stepsPerDoubling * (doublings + 1));
  #total = 0;
  #max = 0;

  /** In milliseconds; what is below zero counts as zero. */
  add(ms: number): void {
    const value = Math.max(0, ms);
    const index = Math.min(indexOf(Math.round(value * microsecondsPerMs)), this.#counts.length - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total += 1;
    if (value > this.#max) this.#max = value;
  }

  /** The smallest value in milliseconds that this share of all values does not exceed; undefined as long as there is none. */
  atShare(share: number): number | undefined {
    return this.#total === 0 ? undefined : this.#valueAt(share);
  }

  /** Undefined as long as nothing was counted. */
  percentiles(): Percentiles | undefined {
    if (this.#total === 0) return undefined;
    const at = (share: number): number => this.#valueAt(share);
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: inMicroseconds(this.#max) };
  }

  #valueAt(share: number): number {
    const wanted = Math.ceil(share * this.#total);
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return Math.min(inMicroseconds(this.#max), upperEnd(index) / microsecondsPerMs);
    }
    return inMicroseconds(this.#max);
  }
}

const inMicroseconds = (ms: number): number => Math.round(ms * microsecondsPerMs) / microsecondsPerMs;

/** Whole microseconds below 128 have an index each. */
function indexOf(microseconds: number): number {
  if (microseconds < 2 * stepsPerDoubling) return microseconds;
  const doubling = Math.floor(Math.log2(microseconds / stepsPerDoubling));
  return stepsPerDoubling * doubling + Math.floor(microseconds / 2 ** doubling);
}

/** The largest value in microseconds with this index. */
function upperEnd(index: number): number {
  if (index < 2 * stepsPerDoubling) return index;
  const doubling = Math.floor(index / stepsPerDoubling) - 1;
  return (index - stepsPerDoubling * doubling + 1) * 2 ** doubling - 1;
}
