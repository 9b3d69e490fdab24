import type { Clock } from '../time/clock.ts';
import { type Rejection, rejection } from '../webhook/rejection.ts';

interface RehearsalOptions {
  readonly respond: number | undefined;
  readonly failFirst: number | undefined;
  readonly delayMs: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Leads whose failures are counted at once; of more than these the oldest begin anew. */
const mostLeads = 100_000;

/** Failing on purpose, so that an integration can be watched while the service retries. */
export class SimulatedFailures {
  readonly #options: RehearsalOptions;
  readonly #failed = new Map<string, number>();

  constructor(options: RehearsalOptions) {
    this.#options = options;
  }

  /** What to answer instead of taking the lead in; undefined to take it in. */
  failureFor(leadId: string): Rejection | undefined {
    const { respond, failFirst } = this.#options;
    if (respond !== undefined && respond >= 300) {
      return { ...rejection('told_to_fail', `answered ${respond}, as --respond says`), status: respond };
    }
    if (failFirst === undefined) return undefined;
    const times = (this.#failed.get(leadId) ?? 0) + 1;
    if (times > failFirst) return undefined;
    this.#failed.delete(leadId);
    this.#failed.set(leadId, times);
    const oldest = this.#failed.size > mostLeads ? this.#failed.keys().next().value : undefined;
    if (oldest !== undefined) this.#failed.delete(oldest);
    return rejection('told_to_fail', `failed on purpose, ${times} of ${failFirst} (--fail-first)`);
  }

  /** The status of a success may be any 2xx. */
  statusFor(status: number): number {
    const { respond } = this.#options;
    return status === 200 && respond !== undefined ? respond : status;
  }

  /** Undefined when there is nothing to wait for. */
  wait(): Promise<void> | undefined {
    const { delayMs, clock, signal } = this.#options;
    if (delayMs === undefined || signal.aborted) return undefined;
    // An interrupted wait is no failure: the answer is due at once then.
    return clock.sleep(delayMs, signal).catch(() => undefined);
  }
}
