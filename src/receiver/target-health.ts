import type { TargetResult } from './targets/target.ts';

const hourMs = 3_600_000;

const shortestPauseMs = 5_000;

/** A pause, and a wait that an app asks for by `Retry-After`, is no longer than this; in milliseconds. */
const longestPauseMs = hourMs;

/** A target is tried so long for a lead that it does not take, unless its own option says otherwise; in milliseconds. */
export const defaultGiveUpMs = 72 * hourMs;

/** From the end of an attempt to the next one, after so many failures; `chance` from 0 to 1 keeps many from coming back together. */
export function pauseMs(failures: number, chance: number): number {
  const longest = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures - 1, 20));
  return Math.round(longest * (1 - chance / 2));
}

/** From a failed attempt, the how many-th of its lead, to the next one of it; in milliseconds. */
export const retryInMs = ({ retryAfterMs = 0 }: TargetResult, tries: number, chance: number): number =>
  Math.max(pauseMs(tries, chance), Math.min(retryAfterMs, longestPauseMs));

/** A target that is down is asked this often at least, in milliseconds: leads that wait must not wait long once it is back. */
const longestOutagePauseMs = 60_000;

/** A target that took the lead before is down after so many of 500 in a row: each may be the fault of its lead. */
const leadsAfterSuccess = 8;

/**
 * Whether a target takes leads now. One lead at which it fails again and again says nothing of the others, so that it takes
 * several leads that fail one after another, or a 429, to make the target count as down. Then it is left alone for a while, which
 * grows to a minute, and one lead after the other shows whether it is back: the latest that was never tried, since the first ones
 * may be what it fails at. Times are of the monotonic clock, in milliseconds.
 */
export class TargetHealth {
  readonly #failedLeads = new Set<string>();
  #hasAnswered = false;
  #outages = 0;
  #pausedUntil = 0;

  get isDown(): boolean {
    return this.#outages > 0;
  }

  pausedMs(now: number): number {
    return this.isDown ? Math.max(0, this.#pausedUntil - now) : 0;
  }

  /** `now`: when the attempt ended. */
  ended(leadId: string, result: TargetResult, now: number, chance: number): void {
    const { status, retryAfterMs = 0 } = result;
    if (result.ok || result.isDown !== true) {
      this.#failedLeads.clear();
      this.#hasAnswered = true;
      this.#outages = 0;
      return;
    }
    if (this.#failedLeads.size < leadsAfterSuccess) this.#failedLeads.add(leadId);
    const leadsOfOutage = status === 429 ? 1 : status === 500 && this.#hasAnswered ? leadsAfterSuccess : 2;
    if (!this.isDown && this.#failedLeads.size < leadsOfOutage) return;
    this.#hasAnswered = false;
    const askedUntil = now + Math.min(retryAfterMs, longestPauseMs);
    // Attempts that were in flight when the outage began meet the same one.
    if (this.pausedMs(now) > 0) this.#pausedUntil = Math.max(this.#pausedUntil, askedUntil);
    else {
      this.#outages += 1;
      const pause = Math.min(pauseMs(this.#outages, chance), longestOutagePauseMs);
      this.#pausedUntil = Math.max(now + pause, askedUntil);
    }
  }
}
