import type { Poster, PostResult } from '../http/client/poster.ts';
import { retryAfterMs } from '../service/client/rate-limit.ts';
import type { Clock } from '../time/clock.ts';
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

interface AttemptOptions {
  readonly forgery?: Forgery | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Delivers leads as the service does: signed POST requests, each repeated by its caller until one is answered 200. */
export interface Sender {
  /** Sends one request. A missing answer is an outcome of the attempt, not an error. */
  attempt(delivery: OutgoingDelivery, number: number, options?: AttemptOptions): Promise<Attempt>;
}

export const createSender = ({ signer, schedule, timeoutMs, poster, clock }: SenderOptions): Sender => ({
  async attempt(delivery, number, { forgery, signal } = {}) {
    const sentAt = clock.now();
    const request =
      forgery === undefined
        ? signRequest(signer, delivery, sentAt)
        : forgeRequest(signer, delivery, sentAt, forgery);
    const result = await poster.post({ url: delivery.target, ...request }, { timeoutMs, signal });
    const outcome = outcomeOf(result);
    const retryInMs = outcome === 'acknowledged' ? undefined : schedule(number, result);
    return { delivery, request, number, sentAt, outcome, result, forgery, retryInMs };
  },
});

/** Only HTTP 200 acknowledges (specification, section 6). */
export type AttemptOutcome = 'acknowledged' | 'refused' | 'unanswered';

/** A request that was sent for a delivery, and what came back. */
export interface Attempt {
  readonly delivery: OutgoingDelivery;
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

/** Waits before each further attempt; after the last wait and attempt the sender gives up. */
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
      result.headers.find(([headerName]) => headerName.toLowerCase() === name)?.[1];
    const askedMs = retryAfterMs(header('retry-after'), now(), header('date')) ?? 0;
    return askedMs > longestRetryAfterMs ? undefined : Math.max(waitMs, askedMs);
  };

/**
 * Makes `repeat` deliveries of each lead to the target. Every delivery has an id of its own, which no other run gives: a
 * receiver may refuse an id that it knows with another body.
 */
export async function* outgoingDeliveries(
  source: LeadSource,
  target: string,
  repeat: number,
  random: () => number,
): AsyncGenerator<readonly OutgoingDelivery[], void, undefined> {
  const runName = randomName(random) + randomName(random);
  let count = 0;
  for await (const batch of source) {
    for (let time = 0; time < repeat; time += 1) {
      yield batch.map(({ leadId = '', body }) => {
        count += 1;
        return { id: `msg_${runName}${count.toString(36)}`, leadId, target, body };
      });
    }
  }
}

/** A lead that is to be delivered. */
export interface SourceLead {
  /** Undefined where the record has no usable id: a receiver must reject it. */
  readonly leadId: string | undefined;
  /** Its own bytes. */
  readonly body: Uint8Array;
}

/** In batches, which cost less than leads one by one. */
export type LeadSource = AsyncIterable<readonly SourceLead[]>;

/** Eight letters and digits: 40 bits. */
export function randomName(random: () => number): string {
  return Array.from({ length: 8 }, () => Math.floor(random() * 32).toString(32)).join('');
}
