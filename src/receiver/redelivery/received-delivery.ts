import { DataError } from '../../errors.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { readLead } from '../../lead/read-lead.ts';
import type { CheckedDelivery, CheckedLead } from '../../webhook/check-delivery.ts';

/** Credentials are not stored: a header that held one is left out. */
export const redacted = '[redacted]';

/** One lead of a stored delivery. */
export type LeadOfDelivery = Pick<StoredDelivery, 'seq' | 'leadId' | 'place'>;

/** A stored delivery as it was received, with some of its leads. Throws a `DataError` where one of them is none. */
export function asReceived(stored: StoredDelivery, leads: readonly LeadOfDelivery[]): CheckedDelivery {
  const { method, path, headers, body, remote, receivedAt } = stored;
  const rawHeaders = headers.filter(([, value]) => !value.includes(redacted));
  return {
    kind: 'leads',
    delivery: { method, path, url: '', rawHeaders, body, remote, receivedAt },
    leads: leads.map((lead) => leadIn(stored, lead)),
    key: -1,
  };
}

function leadIn({ body, source }: StoredDelivery, { seq, leadId, place }: LeadOfDelivery): CheckedLead {
  const bytes = leadBytes(body, place);
  const read = readLead(bytes);
  if (leadId !== undefined && read.ok) return { lead: read.lead, leadId, place, warnings: read.warnings };
  if (leadId === undefined || source !== 'backfill') {
    throw new DataError(`delivery number ${seq} of the inbox holds no lead`);
  }
  // A service may name the id otherwise, and it was read by that name when the lead was pulled.
  return {
    lead: { bytes, id: leadId, createdAt: undefined, category: undefined },
    leadId,
    place,
    warnings: [],
  };
}
