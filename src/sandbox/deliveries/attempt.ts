import type { DeliveryFault } from '../faults.ts';

/** What became of one attempt. Only HTTP 200 acknowledges (specification, section 6). */
export type Outcome = 'acknowledged' | 'refused' | 'unanswered' | 'dropped';

/** One attempt to deliver a lead, as it really happened. */
export interface Attempt {
  /** Of the delivery: the same for every attempt, and the nonce of schemes that have one. */
  readonly deliveryId: string;
  readonly leadId: string;
  readonly target: string;
  /** From 1; a dropped one was never sent. */
  readonly attempt: number;
  /** When it was sent, ISO 8601. */
  readonly at: string;
  readonly outcome: Outcome;
  /** Of the answer, when there was one. */
  readonly status?: number;
  /** Why there was none. */
  readonly error?: string;
  readonly durationMs: number;
  readonly faults: readonly DeliveryFault[];
  /** True when a receiver that verifies must refuse it. */
  readonly forged: boolean;
}
