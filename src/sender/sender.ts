import type { Poster, PostResult } from '../http/client/poster.ts';
import { retryAfterMs } from '../service/client/retry.ts';
import { type Clock, slept } from '../time/clock.ts';
import { forgeRequest, type Forgery } from './forge-request.ts';
import { type OutgoingDelivery, type SignedRequest, type Signer, signRequest } from './sign-request.ts';

export interface SenderOptions {
  readonly signer: Signer;
  readonly schedule: RetrySchedule;
  /** For one attempt, from connecting to the end of the answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly poster: Poster;
  readonly clock: Clock;
}

/** What a caller may decide about each attempt of one delivery; `number` counts from 1. */
interface AttemptHooks {
  /** Resolves when the attempt may be sent, with a function that is called once the attempt has been dealt with. */
  readonly acquire?: (number: number) => Promise<() => void>;
  /** How to forge the attempt; undefined: not at all. Called just before it is sent. */
  readonly forge?: (number: number) => Forgery | undefined;
}

interface AttemptOptions {
  readonly forgery?: Forgery | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Delivers leads as the service does: signed POST requests, each repeated until one is answered 200. */
export interface Sender {
  /** Sends one request. That nobody answers is an outcome of the attempt, not an error. */
  attempt(delivery: OutgoingDelivery, number: number, options?: AttemptOptions): Promise<Attempt>;
  /**
   * Yields each attempt when it is over, and goes on by the schedule until one is acknowledged. Ends without a further
   * attempt once `signal` is aborted.
   */
  deliver(
    delivery: OutgoingDelivery,
    options?: AttemptHooks & Pick<AttemptOptions, 'signal'>,
  ): AsyncIterable<Attempt>;
}

export function createSender({ signer, schedule, timeoutMs, poster, clock }: SenderOptions): Sender {
  const attempt: Sender['attempt'] = async (delivery, number, { forgery, signal } = {}) => {
    const sentAt = clock.now();
    const request =
      forgery === undefined
        ? signRequest(signer, delivery, sentAt)
        : forgeRequest(signer, delivery, sentAt, forgery);
    const result = await poster.post({ url: delivery.target, ...request }, { timeoutMs, signal });
    const outcome = outcomeOf(result);
    const retryInMs = outcome === 'acknowledged' ? undefined : schedule(number, result);
    return { delivery, request, number, sentAt, outcome, result, forgery, retryInMs };
  };
  return {
    attempt,
    async *deliver(delivery, { acquire, forge, signal } = {}) {
      for (let number = 1, waitMs: number | undefined = 0; waitMs !== undefined; number += 1) {
        if (number > 1 && !(await slept(clock, waitMs, signal))) return;
        const release = await acquire?.(number);
        try {
          const made = await attempt(delivery, number, { forgery: forge?.(number), signal });
          if (signal?.aborted === true) return;
          yield made;
          waitMs = made.retryInMs;
        } finally {
          release?.();
        }
      }
    },
  };
}

/** What became of one attempt. Only HTTP 200 acknowledges (specification, section 6). */
export type AttemptOutcome = 'acknowledged' | 'refused' | 'unanswered';

/** One request that was sent for a delivery, and what came back. */
export interface Attempt {
  readonly delivery: OutgoingDelivery;
  /** What was sent. */
  readonly request: SignedRequest;
  /** From 1. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly outcome: AttemptOutcome;
  readonly result: PostResult;
  /** How the request was forged; undefined: it was sent as it should be. */
  readonly forgery: Forgery | undefined;
  /** Milliseconds until the next attempt; undefined when this was the last one. */
  readonly retryInMs: number | undefined;
}

const outcomeOf = (result: PostResult): AttemptOutcome =>
  !result.ok ? 'unanswered' : result.status === 200 ? 'acknowledged' : 'refused';

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
