import type { PostResult } from '../http/client/post.ts';
import type { Forgery } from './forge-request.ts';
import type { OutgoingDelivery } from './outgoing-delivery.ts';
import type { SignedRequest } from './sign-request.ts';

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

export const outcomeOf = (result: PostResult): AttemptOutcome =>
  !result.ok ? 'unanswered' : result.status === 200 ? 'acknowledged' : 'refused';
