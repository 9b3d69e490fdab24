import { answerForOutcome } from '../webhook/delivery-answer.ts';
import type { Verdict } from './decide.ts';
import type { Arrival, StoredDelivery } from './inbox.ts';
import type { RedactDelivery } from './inbox-options.ts';
import { maxRejectedBody } from './limits.ts';

/** A stored delivery before the store gives it a number. */
export type DeliveryRecord = Omit<StoredDelivery, 'seq'>;

/** What every store keeps of a delivery: no credentials, and only the start of a rejected body. */
export function recordOf(
  { delivery, leadId, source }: Omit<Arrival, 'leadId'> & { readonly leadId: string | undefined },
  verdict: Verdict,
  redact: RedactDelivery,
): DeliveryRecord {
  const { receivedAt, remote, method, body } = delivery;
  const rejected = verdict.kind === 'rejected' ? verdict : undefined;
  return {
    receivedAt,
    leadId,
    verdict: verdict.kind,
    reason: rejected?.reason,
    detail: rejected?.detail,
    status: answerForOutcome(verdict).status,
    attempt: verdict.kind === 'rejected' ? 1 : verdict.attempt,
    source: source ?? 'push',
    remote,
    method,
    path: redact.path(delivery),
    headers: redact.headers(delivery),
    body: rejected === undefined ? body : body.subarray(0, maxRejectedBody),
    differs: verdict.kind === 'rejected' ? undefined : verdict.differs,
  };
}
