import { isObject } from '../../json/exact.ts';
import type { SeenLead } from './seen-page.ts';

const usualNames = [
  '_id',
  'leadId',
  'lead_id',
  'uuid',
  'guid',
  'key',
  'reference',
  'externalId',
  'external_id',
];

/** Fields with usual names that hold another text or integer in every lead: where there is no `id`, one may be it. */
export function idFieldsOf(leads: readonly SeenLead[]): string[] {
  if (leads.length < 2) return [];
  return usualNames.filter((name) => {
    const values = leads.map(({ record }) => (isObject(record) ? record[name] : undefined));
    const isUsable = values.every(
      (value) => (typeof value === 'string' && value !== '') || Number.isInteger(value),
    );
    return isUsable && new Set(values).size === values.length;
  });
}
