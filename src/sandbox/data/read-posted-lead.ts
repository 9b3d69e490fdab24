import { parseIsoTime } from '../../time/instant.ts';
import { readLead } from '../../lead/read-lead.ts';
import type { SandboxLead } from './lead-set.ts';

/** A lead from outside: posted to the sandbox, or read from a file. */
export type PostedLead = Omit<SandboxLead, 'seq'>;

/** The lead in its own bytes, or one sentence on why it is not a lead. `now` stands in for a missing `createdAt`. */
export function readPostedLead(
  bytes: Uint8Array,
  statusField: string,
  now: number,
): PostedLead | { problem: string } {
  const reading = readLead(bytes);
  if (!reading.ok) return { problem: reading.detail };
  const { lead } = reading;
  const text = lead.bytes;
  const record = JSON.parse(Buffer.from(text).toString('utf8')) as Record<string, unknown>;
  const status = record[statusField];
  return {
    id: lead.id ?? '',
    category: lead.category,
    createdAt: (lead.createdAt === undefined ? undefined : parseIsoTime(lead.createdAt)) ?? now,
    status: typeof status === 'string' ? status : 'new',
    ...(status !== undefined && { ownStatus: true }),
    text: () => text,
  };
}
