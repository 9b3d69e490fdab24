import type { InboxReader } from '../../inbox/inbox.ts';
import type { LeadAt } from '../../lead/read-leads.ts';
import { idsInBody } from './ids-in-body.ts';

/** Why the deliveries were rejected that the inbox keeps, by the ids of their leads: of several, the newest reason. */
export async function rejectionsIn(
  inbox: Pick<InboxReader, 'list'>,
  leadAt: LeadAt,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for await (const { leadId, body, reason = 'rejected' } of inbox.list({ verdicts: ['rejected'] })) {
    for (const id of leadId === undefined ? idsInBody(body, leadAt) : [leadId]) {
      if (!reasons.has(id)) reasons.set(id, reason);
    }
  }
  return reasons;
}
