import type { Clock } from '../../time/clock.ts';
import { type Rejection, rejection } from '../../webhook/rejection.ts';

interface SimulatedFailuresOptions {
  /** Status of every answer. */
  readonly respond: number | undefined;
  /** How many deliveries of each lead fail before one is taken. */
  readonly failFirst: number | undefined;
  /** Time before each answer, in milliseconds. */
  readonly delayMs: number | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Ends every delay. */
  readonly signal: AbortSignal;
}

/** Leads whose failures are counted at the same time; beyond that the oldest counts are dropped. */
const countedLeads = 100_000;

/** Failures on purpose, so that the retries of a service can be tested (`--respond`, `--fail-first`, `--delay`). */
export class SimulatedFailures {
  readonly #options: SimulatedFailuresOptions;
  readonly #failuresOf = new Map<string, number>();

  constructor(options: SimulatedFailuresOptions) {
    this.#options = options;
  }

  /** The answer that replaces taking the leads of a delivery; undefined to take them. */
  failureFor(leadIds: readonly string[]): Rejection | undefined {
    const { respond, failFirst } = this.#options;
    if (respond !== undefined && respond >= 300) {
      return { ...rejection('told_to_fail', `answered ${respond}, as --respond says`), status: respond };
    }
    if (failFirst === undefined) return undefined;
    const failures = [...new Set(leadIds)].map((leadId) => this.#nextFailureOf(leadId, failFirst));
    return failures.find((failure) => failure !== undefined);
  }

  #nextFailureOf(leadId: string, failFirst: number): Rejection | undefined {
    const times = (this.#failuresOf.get(leadId) ?? 0) + 1;
    if (times > failFirst) return undefined;
    // Deleted first, so that it becomes the newest of the map.
    this.#failuresOf.delete(leadId);
    this.#failuresOf.set(leadId, times);
    const oldest = this.#failuresOf.size > countedLeads ? this.#failuresOf.keys().next().value : undefined;
    if (oldest !== undefined) this.#failuresOf.delete(oldest);
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
    // A delay that is interrupted is no failure: the answer is sent at once then.
    return clock.sleep(delayMs, signal).catch(() => undefined);
  }
}
