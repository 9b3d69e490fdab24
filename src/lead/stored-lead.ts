import { membersAt } from '../json/members.ts';
import { readDocument } from '../json/read-document.ts';
import { idFieldNamed } from './id-field.ts';
import { type IdField, plainId, readLead, type ReadLead } from './read-leads.ts';

/** A lead that came with this id, read again whichever field it was. */
export function readStoredLead(bytes: Uint8Array, leadId: string): ReadLead {
  const plain = readLead(bytes);
  return plain.ok && plain.lead.id === leadId ? plain : readLead(bytes, idFieldIn(bytes, leadId));
}

/** The field of a lead that holds this id: `id` where it does, or where none does. */
export function idFieldIn(bytes: Uint8Array, leadId: string): IdField {
  const document = readDocument(bytes);
  const members = document.ok ? membersAt(document.json, document.start) : [];
  const fields = [plainId, ...members.map(({ name }) => idFieldNamed(name))];
  const holdsId = (field: IdField): boolean => {
    const read = readLead(bytes, field);
    return read.ok && read.lead.id === leadId;
  };
  return fields.find(holdsId) ?? plainId;
}
