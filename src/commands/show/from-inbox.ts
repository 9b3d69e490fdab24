import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { readLead } from '../../lead/read.ts';
import type { LeadText } from '../../lead/text.ts';
import { inboxPlace } from '../inbox-place.ts';

/** The lead as it was first received; undefined when it was not, or when there is no inbox. */
export async function fromInbox(
  id: string,
  given: string | undefined,
  context: Context,
): Promise<LeadText | undefined> {
  const place = inboxPlace(given, await context.settings(), context.paths);
  if (place === ':memory:' || !existsSync(place)) return undefined;
  const { openInbox } = await import('../../inbox/sql.ts');
  const inbox = await openInbox({ place, clock: context.clock });
  try {
    let first: LeadText | undefined;
    for await (const delivery of inbox.list({ leadId: id })) {
      const reading = delivery.verdict === 'rejected' ? undefined : readLead(delivery.body);
      if (reading?.ok === true) first = reading.lead;
    }
    return first;
  } finally {
    await inbox.close();
  }
}
