import { setNewest } from '../../set-newest.ts';
import type { Clock } from '../../time/clock.ts';
import { type Rejection, rejection } from '../../webhook/delivery-answer.ts';
import type { Simulation } from './command.ts';

interface SimulatedFailuresOptions extends Simulation {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal: AbortSignal;
}

const countedLeads = 100_000;

export class SimulatedFailures {
  readonly #options: SimulatedFailuresOptions;
  readonly #failuresOf = new Map<string, number>();

  constructor(options: SimulatedFailuresOptions) {
    this.#options = options;
  }

  /** The answer that replaces taking the leads of a delivery; undefined to take them. */
  failureFor(leadIds: readonly string[]): Rejection | undefined {
    const { status, failFirst } = this.#options;
    if (status !== undefined && status >= 300) {
      return { ...rejection('told_to_fail', `answered ${status}, as --simulate says`), status };
    }
    if (failFirst === undefined) return undefined;
    const failures = [...new Set(leadIds)].map((leadId) => this.#nextFailureOf(leadId, failFirst));
    return failures.find((failure) => failure !== undefined);
  }

  #nextFailureOf(leadId: string, failFirst: number): Rejection | undefined {
    const times = (this.#failuresOf.get(leadId) ?? 0) + 1;
    if (times > failFirst) return undefined;
    setNewest(this.#failuresOf, leadId, times, countedLeads);
    return rejection('told_to_fail', `failed on purpose, ${times} of ${failFirst} (--simulate)`);
  }

  /** The status of a success may be any 2xx. */
  statusFor(status: number): number {
    return status === 200 ? (this.#options.status ?? status) : status;
  }

  wait(): Promise<void> | undefined {
    const { delayMs, clock, signal } = this.#options;
    if (delayMs === undefined || signal.aborted) return undefined;
    // A delay that is interrupted is no failure: the answer is sent at once then.
    return clock.sleep(delayMs, signal).catch(() => undefined);
  }
}
