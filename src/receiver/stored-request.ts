import { DataError, LeadNotFoundError } from '../errors.ts';
import { redacted } from '../inbox/store-options.ts';
import type { ClaimedLead, Inbox, StoredDelivery } from '../inbox/inbox.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import { readStoredLead } from '../lead/read-leads.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import { deliveryWithoutLead, noDeliveryOfLead } from './errors.ts';

/** Whether an error concerns one stored lead alone, which cannot be sent: others can. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof LeadNotFoundError ||
  (error instanceof DataError && error.kind === 'delivery-without-lead');

export async function storedDelivery(
  inbox: Pick<Inbox, 'list'>,
  seq: number,
): Promise<StoredDelivery | undefined> {
  for await (const delivery of inbox.list({ seq })) return delivery;
  return undefined;
}

/** The first delivery of a lead. Throws a `LeadNotFoundError` for an id of which nothing is stored. */
export async function firstDelivery(inbox: Pick<Inbox, 'list'>, leadId: string): Promise<StoredDelivery> {
  let first: StoredDelivery | undefined;
  // The inbox lists the latest first.
  for await (const delivery of inbox.list({ leadId })) if (delivery.verdict !== 'rejected') first = delivery;
  if (first === undefined) throw noDeliveryOfLead(leadId);
  return first;
}

/** Reads the deliveries of leads that came in one request, in their order. Those that are gone are left out. */
export async function storedRequest(
  inbox: Pick<Inbox, 'list'>,
  claims: readonly Pick<ClaimedLead, 'seq' | 'request'>[],
): Promise<readonly StoredDelivery[]> {
  const [first] = claims;
  if (first === undefined) return [];
  const seqs = new Set(claims.map(({ seq }) => seq));
  const deliveries: StoredDelivery[] = [];
  const query = claims.length === 1 ? { seq: first.seq } : { firstSeq: first.request };
  for await (const delivery of inbox.list(query)) if (seqs.has(delivery.seq)) deliveries.push(delivery);
  return deliveries.reverse();
}

/** A stored delivery as it was received, without credentials; `leads`: those of it that are sent. */
export const asReceived = (
  { method, path, headers, body, remote, receivedAt, source }: StoredDelivery,
  leads: readonly CheckedLead[],
): CheckedDelivery => ({
  kind: 'leads',
  source,
  delivery: {
    method,
    path,
    url: '',
    rawHeaders: headers.filter(([, value]) => !value.includes(redacted)),
    body,
    remote,
    receivedAt,
  },
  leads,
  key: -1,
});

/** The lead of a stored delivery. Throws a `DataError` where it holds none. */
export function leadOf({ seq, leadId, place, body, source }: StoredDelivery): CheckedLead {
  const bytes = leadBytes(body, place);
  const read = leadId === undefined ? undefined : readStoredLead(bytes, leadId);
  if (leadId !== undefined && read?.ok === true) {
    return { lead: read.lead, leadId, place, warnings: read.warnings };
  }
  if (leadId === undefined || source !== 'backfill') throw deliveryWithoutLead(seq);
  // A service may name the id outside of the lead.
  const lead = { bytes, id: leadId, createdAt: undefined, category: undefined };
  return { lead, leadId, place, warnings: [] };
}
