import type { Context } from '../../context.ts';
import type { Inbox, InboxReader } from '../../inbox/inbox.ts';
import {
  isInboxThere,
  locationText,
  type InboxOptions,
  openInbox,
  openInboxReader,
} from '../../inbox/open-inbox.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';

/**
 * Reads the inbox and closes it; undefined, with a message, when nothing was ever received there. `missing` may say
 * something else, or throw.
 */
export const withInboxReader = <T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: InboxReader) => Promise<T>,
  missing?: (location: string) => void,
): Promise<T | undefined> => useInbox(openInboxReader, flags, context, use, missing);

/** The same for a command that writes. */
export const withInbox = <T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: Inbox) => Promise<T>,
  more: Partial<InboxOptions> = {},
): Promise<T | undefined> => useInbox((options) => openInbox({ ...options, ...more }), flags, context, use);

async function useInbox<Opened extends InboxReader, T>(
  open: (options: InboxOptions) => Promise<Opened>,
  flags: InboxFlags,
  context: Context,
  use: (inbox: Opened) => Promise<T>,
  missing = (name: string): void =>
    context.messages.say(`nothing was received yet: there is no inbox at ${name}`),
): Promise<T | undefined> {
  const location = await resolveInbox(flags, await context.settings(), context);
  if (!isInboxThere(location)) {
    missing(locationText(location));
    return undefined;
  }
  const inbox = await open({ location, clock: context.clock });
  try {
    return await use(inbox);
  } finally {
    await inbox.close();
  }
}
