import { DataError } from '../../errors.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { readLead } from '../../lead/read-lead.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/** Credentials are not stored: a header that held one is left out. */
const redacted = '[redacted]';

/** A stored delivery as it was received. Throws a `DataError` for one that holds no lead. */
export function asReceived(stored: StoredDelivery): CheckedDelivery {
  const { method, path, headers, body, remote, receivedAt, leadId } = stored;
  const read = readLead(body);
  if (leadId === undefined || !read.ok) {
    throw new DataError(`delivery number ${stored.seq} of the inbox holds no lead`);
  }
  const rawHeaders = headers.filter(([, value]) => !value.includes(redacted));
  return {
    kind: 'lead',
    delivery: { method, path, url: '', rawHeaders, body, remote, receivedAt },
    lead: read.lead,
    leadId,
    key: -1,
    warnings: read.warnings,
  };
}
