import type { Clock } from '../time/clock.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { explainDelivery } from '../webhook/explain/explain-delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';
import type { Verifier } from '../webhook/scheme.ts';

/** What the credential of a rejected delivery would have matched, one sentence each. */
export type ExplainRejection = (delivery: Delivery, rejection: Rejection) => readonly string[];

/** `--explain`: answers for a rejected credential or time only. Nothing is ever accepted because of it. */
export function rejectionExplainer(verifier: Verifier, clock: Pick<Clock, 'now'>): ExplainRejection {
  return (delivery, { status, reason }) =>
    status === 401 && reason !== 'replayed_nonce' ? explainDelivery(delivery, verifier, clock.now()) : [];
}
