import type { Context } from '../../context.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { readLead } from '../../lead/read-lead.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { isInboxThere } from '../../inbox/open-inbox.ts';
import type { InboxFlags } from '../flags/inbox/inbox-flags.ts';
import { resolveInbox } from '../flags/inbox/resolve-inbox.ts';

/** The lead as it was first received; undefined when it was not, or when there is no inbox. */
export async function receivedLead(
  id: string,
  flags: InboxFlags,
  context: Context,
): Promise<RawLead | undefined> {
  const location = await resolveInbox(flags, await context.settings(), context);
  if (location === ':memory:' || !isInboxThere(location)) return undefined;
  const { openInboxReader } = await import('../../inbox/open-inbox.ts');
  const inbox = await openInboxReader({ location, clock: context.clock });
  try {
    let first: RawLead | undefined;
    for await (const delivery of inbox.list({ leadId: id })) {
      const { verdict, body, place } = delivery;
      const reading = verdict === 'rejected' ? undefined : readLead(leadBytes(body, place));
      if (reading?.ok === true) first = reading.lead;
    }
    return first;
  } finally {
    await inbox.close();
  }
}
