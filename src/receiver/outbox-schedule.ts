import type { TargetResult } from './targets/target.ts';

const hourMs = 3_600_000;

/** The pause behind the first failure, in milliseconds. */
const shortestPauseMs = 5_000;

/** Of a pause, and of what an app asks to wait by `Retry-After`; in milliseconds. */
export const longestPauseMs = hourMs;

/** So long a target is tried for a lead that it does not take, unless its own option says otherwise; in milliseconds. */
export const defaultGiveUpMs = 72 * hourMs;

/** What is known of one target in this run. Times are those of a clock that goes on evenly, in milliseconds. */
export interface TargetState {
  /** Outages in a row, each behind the pause after the one before; 0 while it answers. */
  readonly outages: number;
  /** Until then it is not tried for what is stored. */
  readonly pausedUntil: number;
}

export const answering: TargetState = { outages: 0, pausedUntil: 0 };

/** From the end of a try to the next one, after so many failures; `chance` from 0 to 1 keeps many from coming back together. */
export function pauseMs(failures: number, chance: number): number {
  const longest = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures - 1, 20));
  return Math.round(longest * (1 - chance / 2));
}

/** The target was tried as long as pauses grow: it is not away for a moment only. */
export const isAwayForLong = ({ outages }: TargetState): boolean =>
  shortestPauseMs * 2 ** (outages - 1) >= longestPauseMs;

/** The target after one more try. `steady`: now. Several tries that met the same outage count once. */
export function stateAfter(
  before: TargetState,
  { ok, isDown, retryAfterMs = 0 }: TargetResult,
  steady: number,
  chance: number,
): TargetState {
  if (ok || isDown !== true) return answering;
  const asked = steady + Math.min(retryAfterMs, longestPauseMs);
  if (steady < before.pausedUntil) return { ...before, pausedUntil: Math.max(before.pausedUntil, asked) };
  const outages = before.outages + 1;
  return { outages, pausedUntil: Math.max(steady + pauseMs(outages, chance), asked) };
}

/** A lead that a target did not take, `now` in milliseconds since the epoch, as `since` is. */
export interface FailedTry {
  readonly result: TargetResult;
  /** At this target, this one included. */
  readonly tries: number;
  /** When the lead became outstanding there; undefined: only now. */
  readonly since: number | undefined;
  readonly giveUpMs: number;
  readonly now: number;
}

/** What becomes of the lead: when it is due again there, in milliseconds since the epoch, or that it is given up. */
export function nextTry(
  { result, tries, since, giveUpMs, now }: FailedTry,
  chance: number,
): { readonly retryAt: number } | { readonly dead: true } {
  if (since !== undefined && now - since >= giveUpMs) return { dead: true };
  const asked = Math.min(result.retryAfterMs ?? 0, longestPauseMs);
  // While the target is down it is the target that waits: the lead is due when it answers, behind those due before.
  const own = result.isDown === true ? 0 : pauseMs(tries, chance);
  return { retryAt: now + Math.max(own, asked) };
}
