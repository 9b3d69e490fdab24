import type { Dialect } from '../config/dialect.ts';
import { isObject } from '../json/exact.ts';
import { fieldAt, parseLead, type RawLead } from '../lead/raw-lead.ts';
import type { Service } from './client/service.ts';

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

/** Says once when leads come with another status than the one that was asked for, and how to narrow here. */
export function noteOtherStatus(service: Service, askedStatus: string, leads: readonly RawLead[]): void {
  for (const lead of leads.slice(0, sample)) {
    const record = parseLead(lead);
    for (const field of statusFieldsOf(service.dialect)) {
      const status = isObject(record) ? fieldAt(record, field.split('.')) : undefined;
      if (typeof status !== 'string' || status === askedStatus) continue;
      const advice = `to narrow here: ${service.front.option('where', `${field}=${askedStatus}`)}`;
      service.messages.note('status', `the service also lists leads with ${field} '${status}'; ${advice}`);
      return;
    }
  }
}
