import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { readLead } from '../../lead/read-lead.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { inboxPath } from '../flags/inbox-flag.ts';

/** The lead as it was first received; undefined when it was not, or when there is no inbox. */
export async function receivedLead(
  id: string,
  namedInbox: string | undefined,
  context: Context,
): Promise<RawLead | undefined> {
  const path = inboxPath(namedInbox, await context.settings(), context.paths);
  if (path === ':memory:' || !existsSync(path)) return undefined;
  const { openInboxReader } = await import('../../inbox/open-inbox.ts');
  const inbox = await openInboxReader({ location: path, clock: context.clock });
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
