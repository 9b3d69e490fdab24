import { isObject, type Json } from '../../json/exact.ts';
import { fieldAt, parseLead, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { statusFields } from '../../service/status-fields.ts';

/** A lead of an answer, as far as comparisons need it. */
export interface SeenLead {
  /** Its id, or its bytes where it has none. */
  readonly key: string;
  readonly hasId: boolean;
  /** Milliseconds since the epoch; undefined where it cannot be read. */
  readonly createdAt: number | undefined;
  readonly record: Json;
}

export const seenLead = (lead: RawLead): SeenLead => ({
  key: lead.id ?? Buffer.from(lead.bytes).toString('latin1'),
  hasId: lead.id !== undefined,
  createdAt: readCreatedAt(lead.createdAt),
  record: parseLead(lead),
});

export const keysOf = (leads: readonly SeenLead[]): string[] => leads.map(({ key }) => key);

const idNames = ['_id', 'leadId', 'lead_id', 'uuid', 'guid', 'key', 'reference', 'externalId', 'external_id'];

/** Fields with usual names that hold another text or integer in every lead: where there is no `id`, one may be it. */
export function idFieldsOf(leads: readonly SeenLead[]): string[] {
  if (leads.length < 2) return [];
  return idNames.filter((name) => {
    const values = leads.map(({ record }) => (isObject(record) ? record[name] : undefined));
    const isUsable = values.every((value) => (typeof value === 'string' && value) || Number.isInteger(value));
    return isUsable && new Set(values).size === values.length;
  });
}

/** The texts in a field of the leads, the most frequent first. */
export function valuesOf(leads: readonly SeenLead[], field: string): string[] {
  const counts = new Map<string, number>();
  for (const { record } of leads) {
    const value = fieldAt(record, field.split('.'));
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value]) => value);
}

/** A status has no more different values than this. */
const mostValues = 20;

/** The field that most likely holds the delivery status of the leads: one that differs, where there is one. */
export function statusFieldOf(leads: readonly SeenLead[], configured: string): string {
  const present = new Set(leads.flatMap(({ record }) => (isObject(record) ? Object.keys(record) : [])));
  const likely = [configured, ...statusFields, ...[...present].filter((name) => /status|state/i.test(name))];
  const count = (name: string): number => valuesOf(leads, name).length;
  const usable = likely.filter((name) => count(name) > 0 && count(name) <= mostValues);
  return usable.find((name) => count(name) > 1) ?? usable[0] ?? 'status';
}
