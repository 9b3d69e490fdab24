import type { Delivery } from '../webhook/delivery.ts';
import { answerForOutcome, type OtherDelivery, type Rejection } from '../webhook/delivery-answer.ts';
import type { Verdict, VerdictKind } from './decide-verdict.ts';
import type { Arrival, StoredDelivery } from './inbox.ts';
import { maxRejectedBody, type RedactDelivery } from './store-options.ts';

/** What the leads of one delivery share, without credentials. */
export interface DeliveryContent {
  readonly path: string;
  readonly headers: StoredDelivery['headers'];
  readonly body: Uint8Array;
}

/** A stored delivery before the store gives it a number, without headers and body, which a store may keep elsewhere. */
export type DeliverySummary = Omit<StoredDelivery, 'seq' | 'headers' | 'body' | 'results'> & {
  /** When the lead was created (ms since the epoch), of its first delivery; undefined where that cannot be read. */
  readonly createdAt: number | undefined;
};

/** Stands in a column for the creation time of a lead that was stored before there was one: no time is as early. */
export const createdAtNotKept = Number.MIN_SAFE_INTEGER;

export const contentOf = (delivery: Delivery, redact: RedactDelivery): DeliveryContent => ({
  path: redact.path(delivery),
  headers: redact.headers(delivery),
  body: delivery.body,
});

/** The same of a rejected delivery: only the start of its body. */
export function rejectedContentOf(delivery: Delivery, redact: RedactDelivery): DeliveryContent {
  const content = contentOf(delivery, redact);
  return { ...content, body: content.body.subarray(0, maxRejectedBody) };
}

/**
 * A store keeps what is `other` as rejected, told apart by its reason: so it has the index and the limits of those, and the
 * release before can read it.
 */
export const keptVerdict = (verdict: VerdictKind): string => (verdict === 'other' ? 'rejected' : verdict);

export const verdictRead = (kept: unknown, reason: string | undefined): VerdictKind =>
  reason === otherEvent ? 'other' : (kept as VerdictKind);

export const otherEvent: OtherDelivery['reason'] = 'other_event';

/** What every store keeps of a lead and its delivery. `firstSeq`: see `StoredDelivery`. */
export function summaryOf(
  {
    delivery,
    leadId,
    place,
    source,
    isAcknowledged,
    createdAt,
  }: Omit<Arrival, 'leadId'> & { readonly leadId: string | undefined },
  verdict: Verdict | OtherDelivery,
  path: string,
  firstSeq?: number,
): DeliverySummary {
  const { receivedAt, remote, method } = delivery;
  const untaken = 'reason' in verdict ? verdict : undefined;
  const taken = 'reason' in verdict ? undefined : verdict;
  return {
    receivedAt,
    leadId,
    verdict: verdict.kind,
    reason: untaken?.reason,
    detail: untaken?.detail,
    status: 'reason' in verdict ? verdict.status : statusOf(verdict, isAcknowledged),
    attempt: taken?.attempt ?? 1,
    source: source ?? 'push',
    remote,
    method,
    path,
    place: taken === undefined ? undefined : place,
    firstSeq,
    differs: taken?.differs,
    createdAt: taken?.attempt === 1 ? createdAt : undefined,
  };
}

const statusOf = (verdict: Exclude<Verdict, Rejection>, isAcknowledged: boolean | undefined): number =>
  isAcknowledged === true || verdict.kind !== 'pending' ? 200 : answerForOutcome(verdict).status;

/** The leads of one delivery, at least one. */
export type Group = readonly [Arrival, ...Arrival[]];

/** Puts arrivals that follow each other and share a delivery together; a body that is the lead has no other one. */
export function groupByDelivery(arrivals: readonly Arrival[]): readonly Group[] {
  const groups: [Arrival, ...Arrival[]][] = [];
  for (const arrival of arrivals) {
    const last = groups.at(-1);
    if (
      arrival.place !== undefined &&
      last?.[0].place !== undefined &&
      last[0].delivery === arrival.delivery
    ) {
      last.push(arrival);
    } else groups.push([arrival]);
  }
  return groups;
}
