import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import type { Inbox, InboxReader } from '../../inbox/inbox.ts';
import { type InboxOptions, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { inboxPath } from '../flags/inbox-flag.ts';

/** Reads the inbox and closes it; undefined, with a message, when nothing was ever received there. */
export const withInboxReader = <T>(
  namedInbox: string | undefined,
  context: Context,
  use: (inbox: InboxReader) => Promise<T>,
): Promise<T | undefined> => withOpened(openInboxReader, namedInbox, context, use);

/** The same for a command that writes. */
export const withInbox = <T>(
  namedInbox: string | undefined,
  context: Context,
  use: (inbox: Inbox) => Promise<T>,
  more: Partial<InboxOptions> = {},
): Promise<T | undefined> =>
  withOpened((options) => openInbox({ ...options, ...more }), namedInbox, context, use);

async function withOpened<Opened extends InboxReader, T>(
  open: (options: InboxOptions) => Promise<Opened>,
  namedInbox: string | undefined,
  context: Context,
  use: (inbox: Opened) => Promise<T>,
): Promise<T | undefined> {
  const path = inboxPath(namedInbox, await context.settings(), context.paths);
  if (!existsSync(path)) {
    context.messages.say(`nothing was received yet: there is no inbox at ${path}`);
    return undefined;
  }
  const inbox = await open({ location: path, clock: context.clock });
  try {
    return await use(inbox);
  } finally {
    await inbox.close();
  }
}
