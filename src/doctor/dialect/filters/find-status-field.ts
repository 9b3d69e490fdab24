import { isObject } from '../../../json/exact.ts';
import { statusFields } from '../../../service/listing/status-note.ts';
import type { SeenLead } from '../seen-page.ts';
import { valuesOf } from './find-filter.ts';

/** The more usual names first. */
const usualFields = [...statusFields, 'deliveryState', 'delivery_state'];

/** More different values than a status has. */
const mostValues = 20;

/** A field that may hold the delivery status, with the values seen, the most frequent first. */
export interface StatusField {
  readonly name: string;
  readonly values: readonly string[];
}

/** Fields that may hold the delivery status of the leads, the likeliest first. */
export function statusFieldsOf(leads: readonly SeenLead[], configured: string | undefined): StatusField[] {
  const present = new Set(leads.flatMap(({ record }) => (isObject(record) ? Object.keys(record) : [])));
  const likely = [configured, ...usualFields, ...present].filter(
    (name, i, all): name is string =>
      name !== undefined && present.has(name) && all.indexOf(name) === i && isLikely(name, configured),
  );
  return likely
    .map((name) => ({ name, values: valuesOf(leads, name) }))
    .filter(({ values }) => values.length > 0 && values.length <= mostValues);
}

const isLikely = (name: string, configured: string | undefined): boolean =>
  name === configured || usualFields.includes(name) || /status|state/i.test(name);
