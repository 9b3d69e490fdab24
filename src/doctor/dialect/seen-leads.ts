import { isObject, type Json } from '../../json/exact.ts';
import { fieldAt, parseLead, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { statusFields } from '../../service/status-fields.ts';
import type { LeadOrder, StatusField } from '../problems.ts';

/** A lead of an answer, as far as comparisons need it. */
export interface SeenLead {
  /** Its id, or its bytes where it has none. */
  readonly key: string;
  readonly hasId: boolean;
  /** Milliseconds since the epoch; undefined where it cannot be read. */
  readonly createdAt: number | undefined;
  readonly record: Json;
}

export type LeadTest = (lead: SeenLead) => boolean;

/** The front of the list without filters. */
export interface KnownList {
  readonly leads: readonly SeenLead[];
  /** Leads that one answer holds at most. */
  readonly capacity: number;
  /** There are no leads behind these. */
  readonly isWhole: boolean;
}

export const seenLead = (lead: RawLead): SeenLead => ({
  key: lead.id ?? Buffer.from(lead.bytes).toString('latin1'),
  hasId: lead.id !== undefined,
  createdAt: readCreatedAt(lead.createdAt),
  record: parseLead(lead),
});

export const keysOf = (leads: readonly SeenLead[]): string[] => leads.map(({ key }) => key);

/** What a parameter did to the list; `lossy`: it left out each lead that it should have brought. */
export type Effect = 'honoured' | 'ignored' | 'lossy' | 'others' | 'unclear';

/** What an answer to a filter shows, which should leave the leads that `selects` takes. */
export function effectOf(leads: readonly SeenLead[], list: KnownList, selects: LeadTest): Effect {
  const known = new Set(keysOf(list.leads));
  const met = new Set(keysOf(leads));
  const isMet: LeadTest = ({ key }) => met.has(key);
  const shared = leads.filter(({ key }) => known.has(key)).length;
  const newest = Math.max(...list.leads.map(({ createdAt }) => createdAt ?? -Infinity));
  const isOldAndNew: LeadTest = ({ key, createdAt }) => !known.has(key) && (createdAt ?? Infinity) < newest;
  if (list.isWhole && leads.some(isOldAndNew)) return 'others';
  const selected = list.leads.filter(selects);
  // Leads that arrived meanwhile, or that lie behind the known ones, take the place of some on a full page.
  const expected = leads.length >= list.capacity ? selected.slice(0, shared) : selected;
  const isSelection = leads.length > 0 && selected.length > 0 && leads.every(selects);
  if (isSelection && expected.every(isMet)) return 'honoured';
  if (shared > 0 && shared >= Math.min(list.leads.length, list.capacity) - 2) return 'ignored';
  const isLossy = leads.length < list.capacity && selected.length > 0 && !selected.some(isMet);
  return isLossy ? 'lossy' : 'unclear';
}

/** Undefined where their times of creation do not show it. */
export function orderOf(leads: readonly SeenLead[]): LeadOrder | undefined {
  const times = leads.flatMap(({ createdAt }) => createdAt ?? []);
  const steps = times.slice(1).map((time, i) => time - (times[i] ?? time));
  if (steps.every((step) => step === 0)) return undefined;
  if (steps.every((step) => step <= 0)) return 'newest-first';
  return steps.every((step) => step >= 0) ? 'oldest-first' : 'neither-by-time';
}

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

/** The values of a field, the most frequent first. */
export function valuesOf(leads: readonly SeenLead[], field: string): string[] {
  const counts = new Map<string, number>();
  for (const { record } of leads) {
    const value = fieldAt(record, field.split('.'));
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value]) => value);
}

/** More different values than a status has. */
const mostValues = 20;

/** Fields that may hold the delivery status of the leads, the likeliest first. */
export function statusFieldsOf(leads: readonly SeenLead[], configured: string): StatusField[] {
  const present = new Set(leads.flatMap(({ record }) => (isObject(record) ? Object.keys(record) : [])));
  const usual = [configured, ...statusFields, 'deliveryState', 'delivery_state'];
  const likely = [...usual, ...[...present].filter((name) => /status|state/i.test(name))];
  return [...new Set(likely)]
    .filter((name) => present.has(name))
    .map((name) => ({ name, values: valuesOf(leads, name) }))
    .filter(({ values }) => values.length > 0 && values.length <= mostValues);
}
