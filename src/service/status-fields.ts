import type { Dialect } from '../config/dialect.ts';
import { isObject } from '../json/exact.ts';
import { fieldAt, parseLead, type RawLead } from '../lead/raw-lead.ts';
import type { Service } from './client/service.ts';
import type { ServiceProblem } from './problems.ts';

/** The specification names neither the field nor its values (section 2, gaps). */
export const statusFields: readonly string[] = [
  'status',
  'deliveryStatus',
  'delivery_status',
  'leadStatus',
  'lead_status',
  'state',
];

/** Records looked at per page: a filter that is ignored shows soon. */
const sample = 20;

/** Dotted names under which a lead of this service may show its delivery status. */
export const statusFieldsOf = ({ statusField = 'auto' }: Pick<Dialect, 'statusField'>): readonly string[] =>
  statusField === 'auto' ? statusFields : [statusField];

/** Says once when leads of another status come than the wanted one, and how to narrow here. */
export async function noteOtherStatus(
  service: Service,
  wanted: string,
  leads: readonly RawLead[],
): Promise<void> {
  const fields = statusFieldsOf(service.dialect);
  for (const lead of leads.slice(0, sample)) {
    const other = statusIn(lead, fields, wanted);
    if (other === undefined) continue;
    const note: ServiceProblem = { kind: 'other-status', ...other, wanted };
    service.messages.note('status', (await service.texts()).noteOf(note));
    return;
  }
}

/** The first of these fields that holds a text, which is not `except`. */
function statusIn(lead: RawLead, fields: readonly string[], except?: string) {
  const record = parseLead(lead);
  if (!isObject(record)) return undefined;
  for (const field of fields) {
    const status = fieldAt(record, field.split('.'));
    if (typeof status === 'string' && status !== except) return { field, status };
  }
  return undefined;
}
