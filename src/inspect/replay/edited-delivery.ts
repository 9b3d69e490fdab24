import { randomBytes } from 'node:crypto';
import { bufferOf, compact } from '../../json/bytes.ts';
import { changeMember } from '../../json/change-members.ts';
import { pathTo } from '../../json/members.ts';
import type { Json } from '../../json/exact.ts';
import { readDocument } from '../../json/scanner.ts';
import { idFieldIn, type LeadAt, plainId, readLeads } from '../../lead/read-leads.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';
import { badRequest } from '../request-problem.ts';

/** The same delivery with another body. */
interface Edited {
  readonly checked: CheckedDelivery;
  readonly leadId: string;
}

/**
 * The lead of an edited body gets an id that nothing else has: no receiver is to take it for the lead that was received.
 * `received`: with the delivery's own headers. Throws a `RequestProblem` for a body that cannot be sent.
 */
export function editedDelivery(received: CheckedDelivery, text: string): Edited {
  const body = bufferOf(new TextEncoder().encode(text));
  const [original] = received.leads;
  const stored = original?.leadId ?? '';
  const idField = original === undefined ? plainId : idFieldIn(original.lead.bytes, stored);
  const read = readLeads(body, placeOfLead(received), { saidBy: 'the stored delivery' }, idField);
  if (!read.ok) throw badRequest(`The edited body holds no lead: ${read.detail}.`);
  const [found, ...more] = read.leads;
  if (found === undefined || more.length > 0) {
    throw badRequest('The edited body holds several leads: keep one of them.');
  }
  const leadId = `leads-edited-${randomBytes(8).toString('hex')}`;
  const { start, end } = found.place ?? { start: 0, end: body.length };
  const lead = changeMember(compact(body.subarray(start, end)), {
    path: [idField.name],
    value: JSON.stringify(leadId),
  });
  if (lead === undefined) throw new Error('a lead without an id was read');
  const edited = Buffer.concat([body.subarray(0, start), lead, body.subarray(end)]);
  const repeated = memberWithId(JSON.parse(edited.toString('utf8').replace(/^\ufeff/, '')) as Json, stored);
  if (repeated !== undefined) {
    throw badRequest(`The edited body has the id of the stored lead in '${repeated}', too: change it.`);
  }
  const place = found.place && { start, end: start + lead.length };
  return {
    leadId,
    checked: {
      ...received,
      delivery: { ...received.delivery, body: edited },
      leads: [{ lead: { ...found.lead, bytes: lead, id: leadId }, leadId, place, warnings: [] }],
    },
  };
}

/** Where the receiver found the lead: `--lead-at` may say what a body does not show. */
function placeOfLead({ delivery, leads: [lead] }: CheckedDelivery): LeadAt {
  const document = lead?.place && readDocument(delivery.body);
  if (lead?.place === undefined || document?.ok !== true) return 'auto';
  const { json, start } = document;
  const path = pathTo(json, start, lead.place.start);
  if (path === undefined) return 'auto';
  // Of several leads, those that are left may be at other places of their array.
  return /^\d+$/.test(path.at(-1) ?? '') ? path.slice(0, -1) : path;
}

/** The name of a member that says by its name that it is an id, and has this one; undefined where there is none. */
function memberWithId(value: Json, id: string): string | undefined {
  const waiting = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries<Json>(next)) {
      const isText = typeof member === 'string' || typeof member === 'number';
      if (isText && /id$/i.test(name) && String(member) === id) return name;
      waiting.push(member);
    }
  }
  return undefined;
}
