import { identifiedRecord } from '../json/identified-record.ts';
import { type IdField, plainId } from './read-leads.ts';

/** `option`: what may name another one, for messages. */
export function idFieldNamed(name: string, option?: string): IdField {
  if (name === plainId.name) return { name, option };
  return { name, option, recordIn: (json) => identifiedRecord(json, 0, name) };
}
