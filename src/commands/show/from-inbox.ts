import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { readLead } from '../../lead/read-lead.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { inboxPath } from '../inbox-path.ts';

/** The lead as it was first received; undefined when it was not, or when there is no inbox. */
export async function fromInbox(
  id: string,
  given: string | undefined,
  context: Context,
): Promise<RawLead | undefined> {
  const place = inboxPath(given, await context.settings(), context.paths);
  if (place === ':memory:' || !existsSync(place)) return undefined;
  const { openInbox } = await import('../../inbox/open-inbox.ts');
  const inbox = await openInbox({ location: place, clock: context.clock });
  try {
    let first: RawLead | undefined;
    for await (const delivery of inbox.list({ leadId: id })) {
      const reading = delivery.verdict === 'rejected' ? undefined : readLead(delivery.body);
      if (reading?.ok === true) first = reading.lead;
    }
    return first;
  } finally {
    await inbox.close();
  }
}
