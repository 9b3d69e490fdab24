import type { Clock } from '../time/clock.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { explainDelivery } from '../webhook/explain/explain-delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';
import type { Verifier } from '../webhook/scheme.ts';

/** `--explain`: for a credential or a time that was refused, what would have matched. Never accepts on it. */
export function explainer(
  verifier: Verifier,
  clock: Pick<Clock, 'now'>,
): (delivery: Delivery, rejection: Rejection) => readonly string[] {
  return (delivery, { status, reason }) =>
    status === 401 && reason !== 'replayed_nonce' ? explainDelivery(delivery, verifier, clock.now()) : [];
}
