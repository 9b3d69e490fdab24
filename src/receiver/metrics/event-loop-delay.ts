import { Histogram } from '../../output/openmetrics/histogram.ts';
import type { MetricFamily } from '../../output/openmetrics/metric-family.ts';
import type { Clock } from '../../time/clock.ts';

/** Between two measurements, in milliseconds. */
const everyMs = 100;

/** In seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * By how much timers come late, since other work held up the event loop. A histogram of our own and not node's, because
 * its percentiles would have to be reset at each scrape, and two scrapers would take each other's measurements.
 */
export class EventLoopDelay {
  readonly #delays = new Histogram(bounds);

  /** Measures until `signal` aborts. */
  async measure(clock: Pick<Clock, 'steady' | 'sleep'>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const before = clock.steady();
      try {
        await clock.sleep(everyMs, signal);
      } catch {
        return;
      }
      this.#delays.observe(Math.max(0, clock.steady() - before - everyMs) / 1000);
    }
  }

  family(): MetricFamily {
    return this.#delays.family({
      name: 'leads_event_loop_delay_seconds',
      unit: 'seconds',
      help: 'By how much a timer was late, measured ten times a second.',
    });
  }
}
