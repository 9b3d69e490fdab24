import { parseIsoTime } from '../time/time-text.ts';
import type { RawLead } from './raw-lead.ts';

/**
 * The one reading of a lead's `createdAt`, for filters, windows and conformance alike: milliseconds since the epoch, or
 * undefined for what is no ISO 8601 time: other text, a number, nothing. Without a zone it is UTC, as the service's are
 * (specification, section 2).
 */
export const readCreatedAt = (createdAt: unknown): number | undefined =>
  typeof createdAt === 'string' ? parseIsoTime(createdAt) : undefined;

/** By creation time, whatever the order of the service; a lead whose time cannot be read stays behind its predecessor. */
export function oldestFirst(leads: readonly RawLead[]): RawLead[] {
  // As a rule a service lists the newest first: of leads with one time, the last is then the oldest.
  let before = -Infinity;
  const timed = leads.toReversed().map((lead) => {
    before = readCreatedAt(lead.createdAt) ?? before;
    return { lead, time: before };
  });
  return timed.sort((a, b) => a.time - b.time).map(({ lead }) => lead);
}
