import { randomBytes } from 'node:crypto';
import { bufferOf } from '../../json/bytes.ts';
import { changeMember } from '../../json/change-members.ts';
import { compact } from '../../json/compact.ts';
import { readLeads } from '../../lead/read-leads.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/** The same delivery with another body; `problem`: one sentence. */
export type Edited =
  | { readonly ok: true; readonly checked: CheckedDelivery; readonly leadId: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The lead of an edited body gets an id that nothing else has: no receiver is to take it for the lead that was received.
 * `received`: with the delivery's own headers.
 */
export function editedDelivery(received: CheckedDelivery, text: string): Edited {
  const body = bufferOf(new TextEncoder().encode(text));
  const read = readLeads(body, 'auto');
  // Behind the semicolon stands a flag, which this command does not have.
  if (!read.ok) {
    const [what = ''] = read.detail.split(';');
    return { ok: false, problem: `The edited body holds no lead: ${what}.` };
  }
  const [found, ...more] = read.leads;
  if (found === undefined || more.length > 0) {
    return { ok: false, problem: 'The edited body holds several leads: keep one of them.' };
  }
  const leadId = `leads-edited-${randomBytes(8).toString('hex')}`;
  const { start, end } = found.place ?? { start: 0, end: body.length };
  const lead = changeMember(compact(body.subarray(start, end)), {
    path: ['id'],
    value: JSON.stringify(leadId),
  });
  if (lead === undefined) throw new Error('a lead without an id was read');
  const edited = Buffer.concat([body.subarray(0, start), lead, body.subarray(end)]);
  const place = found.place && { start, end: start + lead.length };
  return {
    ok: true,
    leadId,
    checked: {
      ...received,
      delivery: { ...received.delivery, body: edited },
      leads: [{ lead: { ...found.lead, bytes: lead, id: leadId }, leadId, place, warnings: [] }],
    },
  };
}
