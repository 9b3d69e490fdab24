import { readCreatedAt } from './created-at.ts';
import type { RawLead } from './raw-lead.ts';

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
