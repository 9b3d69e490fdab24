import type { PostResult } from '../http/client/post.ts';
import { retryAfterMs } from '../service/client/retry-after.ts';

/** Milliseconds to wait after attempt `number` (from 1) was not acknowledged; undefined: give up. */
export type RetrySchedule = (number: number, result: PostResult) => number | undefined;

/** One wait before each further attempt; after the last of them the sender gives up. */
export const fixedWaits =
  (waitsMs: readonly number[]): RetrySchedule =>
  (number) =>
    waitsMs[number - 1];

/** A receiver that asks for a longer wait is given up: it must not hold the sender. */
const longestRetryAfterMs = 10 * 60_000;

/**
 * The same for receivers that say when to come back: never earlier than `Retry-After`, and never again after 410 Gone.
 * `now` in milliseconds since the epoch.
 */
export const waitsAskedFor =
  (waitsMs: readonly number[], now: () => number): RetrySchedule =>
  (number, result) => {
    const waitMs = waitsMs[number - 1];
    if (waitMs === undefined || !result.ok) return waitMs;
    if (result.status === 410) return undefined;
    const header = (name: string): string | undefined =>
      result.headers.find(([known]) => known.toLowerCase() === name)?.[1];
    const askedMs = retryAfterMs(header('retry-after'), now(), header('date')) ?? 0;
    return askedMs > longestRetryAfterMs ? undefined : Math.max(waitMs, askedMs);
  };
