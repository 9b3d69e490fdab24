import { type InboxLocation, openInbox } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';

/** The ids of all leads in an inbox, in the order in which they came. */
export async function storedIds(location: InboxLocation): Promise<string[]> {
  const inbox = await openInbox({ location, clock: systemClock });
  const ids: string[] = [];
  for await (const { leadId } of inbox.leads({})) ids.push(leadId);
  await inbox.close();
  return ids;
}
