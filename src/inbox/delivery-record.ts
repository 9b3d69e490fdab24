import { answerForOutcome } from '../webhook/delivery-answer.ts';
import type { Verdict } from './decide-verdict.ts';
import type { Arrival, StoredDelivery } from './inbox.ts';
import type { RedactDelivery } from './inbox-options.ts';
import { maxRejectedBody } from './store-limits.ts';

/** A stored delivery before the store gives it a number; its bytes apart, since a store may keep them elsewhere. */
export interface DeliveryRecord {
  readonly summary: DeliverySummary;
  readonly headers: StoredDelivery['headers'];
  readonly body: Uint8Array;
}

export type DeliverySummary = Omit<StoredDelivery, 'seq' | 'headers' | 'body' | 'results'>;

/** What every store keeps of a delivery: no credentials, and only the start of a rejected body. */
export function recordOf(
  { delivery, leadId, source }: Omit<Arrival, 'leadId'> & { readonly leadId: string | undefined },
  verdict: Verdict,
  redact: RedactDelivery,
): DeliveryRecord {
  const { receivedAt, remote, method, body } = delivery;
  const rejected = verdict.kind === 'rejected' ? verdict : undefined;
  const summary = {
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
    differs: verdict.kind === 'rejected' ? undefined : verdict.differs,
  };
  const storedBody = rejected === undefined ? body : body.subarray(0, maxRejectedBody);
  return { summary, headers: redact.headers(delivery), body: storedBody };
}
