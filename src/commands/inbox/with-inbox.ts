import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/open-inbox.ts';
import { inboxPath } from '../inbox-path.ts';

/** Uses the inbox and closes it; undefined, with a message, when nothing was ever received there. */
export async function withInbox<T>(
  given: string | undefined,
  context: Context,
  use: (inbox: Inbox) => Promise<T>,
): Promise<T | undefined> {
  const place = inboxPath(given, await context.settings(), context.paths);
  if (!existsSync(place)) {
    context.messages.say(`nothing was received yet: there is no inbox at ${place}`);
    return undefined;
  }
  const inbox = await openInbox({ location: place, clock: context.clock });
  try {
    return await use(inbox);
  } finally {
    await inbox.close();
  }
}
