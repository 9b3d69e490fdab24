import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/open-inbox.ts';
import { inboxPath } from '../flags/inbox-flag.ts';

/** Uses the inbox and closes it; undefined, with a message, when nothing was ever received there. */
export async function withInbox<T>(
  namedInbox: string | undefined,
  context: Context,
  use: (inbox: Inbox) => Promise<T>,
): Promise<T | undefined> {
  const path = inboxPath(namedInbox, await context.settings(), context.paths);
  if (!existsSync(path)) {
    context.messages.say(`nothing was received yet: there is no inbox at ${path}`);
    return undefined;
  }
  const inbox = await openInbox({ location: path, clock: context.clock });
  try {
    return await use(inbox);
  } finally {
    await inbox.close();
  }
}
