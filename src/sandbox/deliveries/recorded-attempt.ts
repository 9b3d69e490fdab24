import type { Attempt, AttemptOutcome } from '../../sender/attempt.ts';
import type { OutgoingDelivery } from '../../sender/outgoing-delivery.ts';
import type { DeliveryFault } from '../faults.ts';

/** One attempt to deliver a lead as the control endpoints show it; its fields are public. */
export interface RecordedAttempt {
  /** Of the delivery: the same for every attempt, and the nonce of schemes that have one. */
  readonly deliveryId: string;
  readonly leadId: string;
  readonly target: string;
  /** From 1; a dropped one was never sent. */
  readonly attempt: number;
  /** When it was sent, ISO 8601. */
  readonly at: string;
  readonly outcome: AttemptOutcome | 'dropped';
  readonly durationMs: number;
  /** Of the answer, when there was one. */
  readonly status?: number;
  /** Why there was none. */
  readonly error?: string;
  readonly faults: readonly DeliveryFault[];
  /** True when a receiver that verifies must reject it. */
  readonly forged: boolean;
}

/** A delivery that is lost before its first attempt: it is recorded, and never sent. `at` in milliseconds. */
export const recordDrop = (delivery: OutgoingDelivery, at: number): RecordedAttempt => ({
  deliveryId: delivery.id,
  leadId: delivery.leadId,
  target: delivery.target,
  attempt: 1,
  at: new Date(at).toISOString(),
  outcome: 'dropped',
  durationMs: 0,
  faults: ['drop'],
  forged: false,
});

/** `faults`: what happened to the delivery since the attempt before, besides a forgery. */
export function recordAttempt(attempt: Attempt, faults: readonly DeliveryFault[]): RecordedAttempt {
  const { delivery, number, sentAt, outcome, result, forgery } = attempt;
  return {
    deliveryId: delivery.id,
    leadId: delivery.leadId,
    target: delivery.target,
    attempt: number,
    at: new Date(sentAt).toISOString(),
    outcome,
    durationMs: result.durationMs,
    ...(result.ok ? { status: result.status } : { error: result.code }),
    faults: forgery === undefined ? faults : [...faults, forgery.kind],
    forged: forgery !== undefined,
  };
}
