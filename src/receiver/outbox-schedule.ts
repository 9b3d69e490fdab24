import type { TargetResult } from './targets/target.ts';

const hourMs = 3_600_000;

/** The pause behind the first failure, in milliseconds. */
const shortestPauseMs = 5_000;

/** Of a pause, and of what an app asks to wait by `Retry-After`; in milliseconds. */
export const longestPauseMs = hourMs;

/** No lead alone is tried more often than that again and again, however short `Retry-After` is; in milliseconds. */
const longestToldMs = 60_000;

/** So long a target is tried for a lead that it does not take, unless its own option says otherwise; in milliseconds. */
export const defaultGiveUpMs = 72 * hourMs;

/** Outages in a row, each behind the pause after the one before: 0 while the target answers. */
interface Outages {
  readonly outages: number;
  /** Until then it is not tried for what is stored. */
  readonly pausedUntil: number;
}

/** What is known of one target in this run. Times are those of a clock that goes on evenly, in milliseconds. */
export interface TargetState extends Outages {
  /** Those that leads met which were not tried before: one that fails again and again says nothing of others. */
  readonly fresh: Outages;
  /** It was seen to answer, and no lead has failed since. */
  readonly isSeen: boolean;
}

const none: Outages = { outages: 0, pausedUntil: 0 };

/** Of a target that was not tried yet. */
export const unseen: TargetState = { ...none, fresh: none, isSeen: false };

export const answering: TargetState = { ...unseen, isSeen: true };

/** From the end of a try to the next one, after so many failures; `chance` from 0 to 1 keeps many from coming back together. */
export function pauseMs(failures: number, chance: number): number {
  const longest = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures - 1, 20));
  return Math.round(longest * (1 - chance / 2));
}

/** The target was tried as long as pauses grow: it is not away for a moment only. */
export const isAwayForLong = ({ outages }: TargetState): boolean =>
  shortestPauseMs * 2 ** (outages - 1) >= longestPauseMs;

/** What is known of a try when the target has answered. */
type EndedTry = Pick<FailedTry, 'result' | 'tries' | 'strikes'> & {
  /** The target was seen to answer when the try began. */
  readonly isAnswering: boolean;
};

/**
 * Who asks to be left alone for a while means all leads, unless it is asked of one again: then others have to have met the
 * outage as well.
 */
const isForAll = (
  { fresh }: TargetState,
  { result: { status, retryAfterMs }, strikes, isAnswering }: Omit<EndedTry, 'tries'>,
): boolean =>
  status === 429 || (retryAfterMs !== undefined && (strikes < 2 || (!isAnswering && fresh.outages > 0)));

/** The target after one more try. `steady`: now. Several tries that met the same outage count once. */
export function stateAfter(
  before: TargetState,
  { result, tries, strikes, isAnswering }: EndedTry,
  steady: number,
  chance: number,
): TargetState {
  if (result.ok || result.isDown !== true) return answering;
  const areAll = isForAll(before, { result, strikes, isAnswering });
  const asked = steady + (areAll ? Math.min(result.retryAfterMs ?? 0, longestPauseMs) : 0);
  const after = (known: Outages): Outages => {
    if (steady < known.pausedUntil) return { ...known, pausedUntil: Math.max(known.pausedUntil, asked) };
    const outages = known.outages + 1;
    return { outages, pausedUntil: Math.max(steady + pauseMs(outages, chance), asked) };
  };
  const isFresh = tries === 1 || areAll;
  return { ...after(before), fresh: isFresh ? after(before.fresh) : before.fresh, isSeen: false };
}

/** A lead that a target did not take, `now` in milliseconds since the epoch, as `since` is. */
export interface FailedTry {
  readonly result: TargetResult;
  /** At this target, this one included. */
  readonly tries: number;
  /** How often it failed at a target that answered before. */
  readonly strikes: number;
  /** When the lead became outstanding there; undefined: only now. */
  readonly since: number | undefined;
  readonly giveUpMs: number;
  readonly now: number;
}

/** What becomes of the lead: when it is due again there, in milliseconds since the epoch, or that it is given up. */
export function nextTry(
  { result, tries, strikes, since, giveUpMs, now }: FailedTry,
  chance: number,
): { readonly retryAt: number } | { readonly dead: true } {
  if (since !== undefined && now - since >= giveUpMs) return { dead: true };
  const asked = Math.min(result.retryAfterMs ?? 0, longestPauseMs);
  // While the target is down it is the target that waits: the lead is due when it answers, behind those due before. The first
  // strike may be how an outage began; with the second one it is the lead.
  const failures = result.isDown === true ? strikes - 1 : tries;
  const pause = failures < 1 ? 0 : pauseMs(failures, chance);
  // Who is down and says for how long is asked again then, but not without end each few seconds.
  const isTold = result.isDown === true && result.retryAfterMs !== undefined;
  const own = isTold ? Math.min(pause, Math.max(asked, longestToldMs)) : pause;
  return { retryAt: now + Math.max(own, asked) };
}
