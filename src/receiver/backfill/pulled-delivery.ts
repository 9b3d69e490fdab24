import type { RawLead } from '../../lead/raw-lead.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/**
 * A lead of the service's list as a checked delivery, so that it can be stored and dispatched like a pushed one. Copies
 * its bytes, since a page's memory is used again. `now` in milliseconds since the epoch.
 */
export function deliveryOfPulledLead(
  lead: RawLead & { readonly id: string },
  baseUrl: URL,
  now: number,
): CheckedDelivery {
  const bytes = Buffer.from(lead.bytes);
  return {
    kind: 'leads',
    delivery: {
      method: 'GET',
      path: baseUrl.pathname,
      url: baseUrl.href,
      rawHeaders: [['content-type', 'application/json']],
      body: bytes,
      remote: baseUrl.host,
      receivedAt: now,
    },
    leads: [
      {
        lead: { bytes, id: lead.id, createdAt: lead.createdAt, category: lead.category },
        leadId: lead.id,
        warnings: [],
      },
    ],
    key: -1,
  };
}
