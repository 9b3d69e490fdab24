import type { InboxReader } from '../inbox/inbox.ts';
import type { ReceivedLeads } from '../inbox/query-types.ts';
import { openBracket } from '../json/bytes.ts';
import { elementsAt, spanAt } from '../json/members.ts';
import { readDocument } from '../json/read-document.ts';
import { type IdField, type LeadAt, leadPlaces, readLead, readLeads } from '../lead/read-leads.ts';
import type { FindingClass } from './classify-lead.ts';

/** Where leads are in a body, and which field is their id. */
export interface LeadsInBodies {
  readonly leadAt: LeadAt;
  readonly idField: IdField;
}

/** What was received, and what is known beside the leads. */
export interface ReceivedSide {
  readonly leads: ReceivedLeads;
  /** What only a receiver's own record shows, where this is none. */
  readonly undecidable: readonly FindingClass[];
  /** Whether it is known when each lead was received. */
  readonly hasTimes: boolean;
  /** When the received leads were written down, ms; undefined where that is now. */
  readonly writtenAt?: number | undefined;
  /** Why deliveries were rejected, by the ids in their bodies: evidence that they came, and no more. */
  rejections(): Promise<ReadonlyMap<string, string>>;
}

/** Why the deliveries were rejected that the inbox keeps, by the ids of their leads: of several, the newest reason. */
export async function rejectionsIn(
  inbox: Pick<InboxReader, 'list'>,
  place: LeadsInBodies,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for await (const { leadId, body, reason = 'rejected' } of inbox.list({ verdicts: ['rejected'] })) {
    for (const id of leadId === undefined ? idsInBody(body, place) : [leadId]) {
      if (!reasons.has(id)) reasons.set(id, reason);
    }
  }
  return reasons;
}

/**
 * The ids of the leads in a body, of which nobody knows whether it is authentic. Of a long rejected body only the start is
 * kept, which is no JSON: there are none in it.
 */
function idsInBody(body: Uint8Array, place: LeadsInBodies): readonly string[] {
  return leadsInBody(body, place).flatMap((lead) => {
    const read = readLead(lead, place.idField);
    return read.ok ? (read.lead.id ?? []) : [];
  });
}

/**
 * What is at the places where a body has leads. A receiver takes all leads of a delivery or none: it rejects them for one
 * that cannot be read, for a thousand too many, or where two places may be meant.
 */
export function leadsInBody(body: Uint8Array, { leadAt, idField }: LeadsInBodies): readonly Uint8Array[] {
  const read = readLeads(body, leadAt, undefined, idField);
  if (read.ok) return read.leads.map(({ lead }) => lead.bytes);
  const document = readDocument(body);
  if (!document.ok) return [];
  const { json, start } = document;
  const places =
    leadAt === 'auto' ? leadPlaces(json, start, idField.name) : [spanAt(json, leadAt, document) ?? []].flat();
  return places
    .flatMap((place) => (json[place.start] === openBracket ? elementsAt(json, place.start) : [place]))
    .map((place) => json.subarray(place.start, place.end));
}
