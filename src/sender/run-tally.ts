import { createHistogram } from 'node:perf_hooks';
import type { TimedAttempt } from './delivery-run.ts';
import type { Attempt } from './sender.ts';

/** Counts the attempts of a run. `acknowledged` and `failed` are deliveries, which have no attempt to come. */
export class RunTally {
  readonly latency = new LatencyHistogram();
  readonly byStatus = new Map<string, number>();
  attempts = 0;
  answered = 0;
  acknowledged = 0;
  failed = 0;
  firstFailure: Attempt | undefined;

  add({ attempt, latencyMs }: TimedAttempt): void {
    const { outcome, result, retryInMs } = attempt;
    this.attempts += 1;
    this.latency.add(latencyMs);
    const statusOrCode = result.ok ? String(result.status) : result.code;
    this.byStatus.set(statusOrCode, (this.byStatus.get(statusOrCode) ?? 0) + 1);
    if (result.ok) this.answered += 1;
    if (outcome === 'acknowledged') {
      this.acknowledged += 1;
      return;
    }
    this.firstFailure ??= attempt;
    if (retryInMs === undefined) this.failed += 1;
  }
}

export type Percentiles = Readonly<Record<'p50' | 'p90' | 'p99' | 'max', number>>;

/** Counts durations in milliseconds in fixed memory, each to within 0.1 %. */
export class LatencyHistogram {
  readonly #microseconds = createHistogram({ figures: 3 });
  #maxMs = 0;

  add(ms: number): void {
    const microseconds = Math.round(ms * 1000);
    this.#microseconds.record(Math.max(1, microseconds));
    this.#maxMs = Math.max(this.#maxMs, microseconds / 1000);
  }

  /** By nearest rank: the smallest value that so many percent of all do not exceed. Undefined as long as nothing was counted. */
  percentiles(): Percentiles | undefined {
    const { count } = this.#microseconds;
    if (count === 0) return undefined;
    // Node rounds the rank: only the share of a whole rank names that rank exactly.
    const atShare = (share: number): number =>
      Math.min(this.#maxMs, this.#microseconds.percentile((100 * Math.ceil(share * count)) / count) / 1000);
    return { p50: atShare(0.5), p90: atShare(0.9), p99: atShare(0.99), max: this.#maxMs };
  }
}
