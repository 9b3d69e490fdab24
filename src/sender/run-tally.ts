import type { Attempt } from './attempt.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import type { TimedAttempt } from './delivery-run.ts';

/** Counts the attempts of a run in fixed memory. */
export class RunTally {
  readonly latency = new LatencyHistogram();
  readonly service = new LatencyHistogram();
  /** By the status of the answer, or by what happened instead of one. */
  readonly byStatus = new Map<string, number>();
  attempts = 0;
  /** Deliveries that were answered 200. */
  acknowledged = 0;
  /** Deliveries that were given up. */
  failed = 0;
  /** Attempts that were answered, in whatever way. */
  answered = 0;
  /** The first attempt that was not acknowledged. */
  firstFailure: Attempt | undefined;

  add({ attempt, latencyMs }: TimedAttempt): void {
    const { outcome, result, retryInMs } = attempt;
    this.attempts += 1;
    this.latency.add(latencyMs);
    this.service.add(result.durationMs);
    const status = result.ok ? String(result.status) : result.code;
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    if (result.ok) this.answered += 1;
    if (outcome === 'acknowledged') {
      this.acknowledged += 1;
      return;
    }
    this.firstFailure ??= attempt;
    if (retryInMs === undefined) this.failed += 1;
  }
}
