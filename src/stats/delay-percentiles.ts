import { LatencyHistogram } from '../sender/latency-histogram.ts';

/** Durations of which each is kept, 8 bytes each. */
const mostExact = 1_000_000;

/** In milliseconds; null as long as nothing was measured. */
export interface DelayFigures {
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

  get count(): number {
    return this.#count;
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
