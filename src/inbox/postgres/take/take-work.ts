import { hash } from 'node:crypto';
import { contentOf, type DeliveryContent, rejectedContentOf } from '../../delivery-record.ts';
import { memberIds } from '../../erase/member-ids.ts';
import { type Group, groupByDelivery } from '../../group-arrivals.ts';
import type { Arrival, RejectedDelivery } from '../../inbox.ts';
import type { RedactDelivery } from '../../inbox-options.ts';
import { leadBytes } from '../../lead-bytes.ts';
import { hexOf } from '../sql/sql.ts';
import { bytesOfText } from '../sql/text-bytes.ts';

/** A lead on its way in. */
export interface TakenLead {
  readonly arrival: Arrival;
  readonly id: Uint8Array;
  /** The same in hex, which sorts as the bytes do. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** SHA-256 of the payload. */
  readonly digest: Uint8Array;
}

/** The leads of one delivery. */
export interface TakenDelivery {
  readonly content: DeliveryContent;
  readonly leads: readonly [TakenLead, ...TakenLead[]];
  readonly nonce:
    { readonly bytes: Uint8Array; readonly key: string; readonly digest: Uint8Array } | undefined;
}

interface KeptRejection extends RejectedDelivery {
  readonly content: DeliveryContent;
  /** Of the leads in it, of which nobody knows whether they are authentic. */
  readonly ids: readonly string[];
}

/** What one caller of `take`, or of `reject`, asks for. */
export type TakeWork =
  | { readonly kind: 'take'; readonly deliveries: readonly TakenDelivery[] }
  | { readonly kind: 'reject'; readonly rejections: readonly KeptRejection[] };

export const takeWork = (arrivals: readonly Arrival[], redact: RedactDelivery): TakeWork => ({
  kind: 'take',
  deliveries: groupByDelivery(arrivals).map((group) => takenDelivery(group, redact)),
});

export const rejectWork = (rejected: readonly RejectedDelivery[], redact: RedactDelivery): TakeWork => ({
  kind: 'reject',
  rejections: rejected.map((one) => {
    const content = rejectedContentOf(one.delivery, redact);
    const ids = one.leadId === undefined ? memberIds(one.delivery.body) : [one.leadId];
    return { ...one, content, ids };
  }),
});

/** In bytes as they came. */
export function sizeOfWork(work: TakeWork): number {
  const parts: readonly { content: DeliveryContent; leads?: readonly TakenLead[] }[] =
    work.kind === 'take' ? work.deliveries : work.rejections;
  return parts.reduce((sum, { content, leads = [] }) => {
    const ids = leads.reduce((bytes, { id }) => bytes + id.length, 0);
    const headers = content.headers.reduce((bytes, [name, value]) => bytes + name.length + value.length, 0);
    return sum + content.body.length + headers + ids + content.path.length;
  }, 0);
}

function takenDelivery(group: Group, redact: RedactDelivery): TakenDelivery {
  const [first, ...more] = group;
  const { delivery, nonce } = first;
  const bodyDigest = nonce === undefined && first.place !== undefined ? undefined : digestOf(delivery.body);
  return {
    content: contentOf(delivery, redact),
    leads: [takenLead(first, bodyDigest), ...more.map((arrival) => takenLead(arrival, bodyDigest))],
    nonce: nonce === undefined || bodyDigest === undefined ? undefined : nonceOf(nonce, bodyDigest),
  };
}

/** `bodyDigest`: the lead's as well where the body is the lead. */
function takenLead(arrival: Arrival, bodyDigest: Uint8Array | undefined): TakenLead {
  const { delivery, leadId, place } = arrival;
  const id = bytesOfText(leadId);
  const payload = leadBytes(delivery.body, place);
  const digest = place === undefined && bodyDigest !== undefined ? bodyDigest : digestOf(payload);
  return { arrival, id, key: hexOf(id), payload, digest };
}

function nonceOf(nonce: string, digest: Uint8Array): NonNullable<TakenDelivery['nonce']> {
  const bytes = bytesOfText(nonce);
  return { bytes, key: hexOf(bytes), digest };
}

const digestOf = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
