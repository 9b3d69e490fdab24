import type { PostResult } from '../http/client/post.ts';

/** Milliseconds to wait after attempt `number` (from 1) was not acknowledged; undefined: give up. */
export type RetrySchedule = (number: number, result: PostResult) => number | undefined;

/** One wait before each further attempt; after the last of them the sender gives up. */
export const fixedWaits =
  (waitsMs: readonly number[]): RetrySchedule =>
  (number) =>
    waitsMs[number - 1];
