import type { TargetResult } from './targets/target.ts';

const hourMs = 3_600_000;

/** The longest pause limits a wait that an app asks for by `Retry-After`, too. */
const [firstPauseMs, longestPauseMs] = [5_000, hourMs];

/** A lead that its target does not take is dead after this time, unless the target has an option of its own; in milliseconds. */
export const defaultGiveUpMs = 72 * hourMs;

/** The pause after so many failures, in milliseconds. `chance`, from 0 to 1, shortens it by up to half, so that many do not retry together. */
export function pauseMs(failures: number, chance: number): number {
  const longest = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
  return Math.round(longest * (1 - chance / 2));
}

/** From the failed attempt number `tries` of a lead to its next one, in milliseconds. */
export const retryInMs = ({ retryAfterMs = 0 }: TargetResult, tries: number, chance: number): number =>
  Math.max(pauseMs(tries, chance), Math.min(retryAfterMs, longestPauseMs));

const longestOutagePauseMs = 60_000;

const mostFailedLeads = 8;

/**
 * Decides whether a target is down, from the results of the attempts at it. A lead that fails again and again says nothing of the
 * others, so several leads have to fail one after another, or one with 429, before the target counts as down. Then it is sent nothing
 * for a pause. After the pause the worker tries a single lead, the latest that was never tried, since the target may fail at the first
 * ones alone. Each further failure makes the pause longer, up to a minute, so that leads do not wait long once the target is back; any
 * other result ends the outage. `#failedLeads` has the leads that failed since the last such result, `#pauses` counts the pauses of
 * this outage and is 0 without one, and `#hasAnswered` is whether one came since the last failure that began or lengthened a pause. Times are of the
 * monotonic clock, in milliseconds.
 */
export class TargetHealth {
  readonly #failedLeads = new Set<string>();
  #hasAnswered = false;
  #pauses = 0;
  #pausedUntil = 0;

  get isDown(): boolean {
    return this.#pauses > 0;
  }

  pausedMs(now: number): number {
    return this.isDown ? Math.max(0, this.#pausedUntil - now) : 0;
  }

  record(leadId: string, result: TargetResult, now: number, chance: number): void {
    const { status, retryAfterMs = 0 } = result;
    if (result.ok || result.isDown !== true) {
      this.#failedLeads.clear();
      this.#hasAnswered = true;
      this.#pauses = 0;
      return;
    }
    if (this.#failedLeads.size < mostFailedLeads) this.#failedLeads.add(leadId);
    if (!this.isDown && this.#failedLeads.size < this.#failedLeadsOfOutage(status)) return;
    this.#hasAnswered = false;
    const askedUntil = now + Math.min(retryAfterMs, longestPauseMs);
    const wasInFlightAtPause = this.pausedMs(now) > 0;
    if (wasInFlightAtPause) this.#pausedUntil = Math.max(this.#pausedUntil, askedUntil);
    else {
      this.#pauses += 1;
      const pause = Math.min(pauseMs(this.#pauses, chance), longestOutagePauseMs);
      this.#pausedUntil = Math.max(now + pause, askedUntil);
    }
  }

  /** The number of leads in a row that fail where a target is down. A 500 after successes may be the fault of the lead. */
  #failedLeadsOfOutage(status: number | undefined): number {
    if (status === 429) return 1;
    return status === 500 && this.#hasAnswered ? mostFailedLeads : 2;
  }
}
