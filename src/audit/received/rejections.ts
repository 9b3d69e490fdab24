import type { InboxReader } from '../../inbox/inbox.ts';
import { openBracket } from '../../json/bytes.ts';
import { elementsAt, spanAt } from '../../json/element/members.ts';
import { readDocument } from '../../json/read-document.ts';
import { leadPlaces } from '../../lead/lead-places.ts';
import { readLead } from '../../lead/read-lead.ts';
import { type LeadAt, readLeads } from '../../lead/read-leads.ts';

/** Why the deliveries were rejected that the inbox keeps, by the ids of their leads: of several, the newest reason. */
export async function rejectionsIn(
  inbox: Pick<InboxReader, 'list'>,
  leadAt: LeadAt,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for await (const { leadId, body, reason = 'rejected' } of inbox.list({ verdicts: ['rejected'] })) {
    for (const id of leadId === undefined ? idsIn(body, leadAt) : [leadId]) {
      if (!reasons.has(id)) reasons.set(id, reason);
    }
  }
  return reasons;
}

/** A body that was not authentic was not read when it came. Of a long one only the start is kept, which is no JSON. */
function idsIn(body: Uint8Array, leadAt: LeadAt): readonly string[] {
  const read = readLeads(body, leadAt);
  return read.ok ? read.leads.flatMap(({ lead }) => lead.id ?? []) : idsAmongOthers(body, leadAt);
}

/** One lead that cannot be read, or two places where it may be, make a receiver reject all leads of its delivery. */
function idsAmongOthers(body: Uint8Array, leadAt: LeadAt): readonly string[] {
  const document = readDocument(body);
  if (!document.ok) return [];
  const { json, start } = document;
  const places = leadAt === 'auto' ? leadPlaces(json, start) : [spanAt(json, leadAt, document) ?? []].flat();
  return places
    .flatMap((place) => (json[place.start] === openBracket ? elementsAt(json, place.start) : [place]))
    .flatMap((place) => {
      const read = readLead(json.subarray(place.start, place.end));
      return read.ok ? (read.lead.id ?? []) : [];
    });
}
