import { openBracket } from '../../json/bytes.ts';
import { elementsAt, spanAt } from '../../json/element/members.ts';
import { readDocument } from '../../json/read-document.ts';
import { leadPlaces } from '../../lead/lead-places.ts';
import { readLead } from '../../lead/read-lead.ts';
import { type LeadAt, readLeads } from '../../lead/read-leads.ts';

/**
 * The ids of the leads in a body, of which nobody knows whether it is authentic. Of a long rejected body only the start is
 * kept, which is no JSON: there are none in it.
 */
export function idsInBody(body: Uint8Array, leadAt: LeadAt): readonly string[] {
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
