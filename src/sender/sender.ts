import type { Poster, PostResult } from '../http/client/poster.ts';
import { retryAfterMs } from '../service/client/rate-limit.ts';
import type { Clock } from '../time/clock.ts';
import {
  forgeRequest,
  type Forgery,
  type OutgoingDelivery,
  type SignedRequest,
  type Signer,
  signRequest,
} from './sign-request.ts';

export interface SenderOptions {
  readonly signer: Signer;
  readonly schedule: RetrySchedule;
  readonly poster: Poster;
  readonly clock: Clock;
}

export type Sender = ReturnType<typeof createSender>;

/** Delivers leads as the service does: signed POST requests, each repeated by its caller until one is answered 200. */
export const createSender = ({ signer, schedule, poster, clock }: SenderOptions) => ({
  /** Sends one request; `number`, from 1, counts those of the delivery. A missing answer is an outcome, not an error. */
  async attempt(delivery: OutgoingDelivery, number: number, forgery?: Forgery): Promise<Attempt> {
    const sentAt = clock.now();
    const request =
      forgery === undefined
        ? signRequest(signer, delivery, sentAt)
        : forgeRequest(signer, delivery, sentAt, forgery);
    const result = await poster.post({ url: delivery.target, ...request });
    const outcome = outcomeOf(result);
    const retryInMs = outcome === 'acknowledged' ? undefined : schedule(number, result);
    return { delivery, request, number, sentAt, outcome, result, forgery, retryInMs };
  },
  close: (): void => poster.close(),
});

/** Only HTTP 200 acknowledges (specification, section 6). */
export type AttemptOutcome = 'acknowledged' | 'refused' | 'unanswered';

/** `number` is from 1, `retryInMs` undefined after the last attempt. */
export interface Attempt {
  readonly delivery: OutgoingDelivery;
  readonly request: SignedRequest;
  readonly number: number;
  readonly sentAt: number;
  readonly outcome: AttemptOutcome;
  readonly result: PostResult;
  readonly forgery: Forgery | undefined;
  readonly retryInMs: number | undefined;
}

function outcomeOf(result: PostResult): AttemptOutcome {
  if (!result.ok) return 'unanswered';
  return result.status === 200 ? 'acknowledged' : 'refused';
}

/** Milliseconds to wait after attempt `number` (from 1) was not acknowledged; undefined: give up. */
export type RetrySchedule = (number: number, result: PostResult) => number | undefined;

export const fixedWaits =
  (waitsMs: readonly number[]): RetrySchedule =>
  (number) =>
    waitsMs[number - 1];

/** A delivery whose receiver asks for a longer wait is not tried again: it must not hold the sender. */
const longestRetryAfterMs = 10 * 60_000;

/** A retry never comes earlier than `Retry-After` asks, nor at all after 410 Gone. `now` in milliseconds since the epoch. */
export const waitsAskedFor =
  (waitsMs: readonly number[], now: () => number): RetrySchedule =>
  (number, result) => {
    const waitMs = waitsMs[number - 1];
    if (waitMs === undefined || !result.ok) return waitMs;
    if (result.status === 410) return undefined;
    const { 'retry-after': retryAfter, date } = result.headers;
    const askedMs = retryAfterMs(retryAfter, now(), date) ?? 0;
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
): AsyncGenerator<OutgoingDelivery, void, undefined> {
  const runName = randomName(random) + randomName(random);
  let count = 0;
  for await (const { leadId = '', body } of source) {
    for (let repetition = 0; repetition < repeat; repetition += 1) {
      count += 1;
      yield { id: `msg_${runName}${count.toString(36)}`, leadId, target, body };
    }
  }
}

export interface SourceLead {
  /** Undefined where the record has no usable id: a receiver must reject it. */
  readonly leadId: string | undefined;
  readonly body: Uint8Array;
}

export type LeadSource = AsyncIterable<SourceLead>;

export function randomName(random: () => number): string {
  return Array.from({ length: 8 }, () => Math.floor(random() * 32).toString(32)).join('');
}
