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
 * Reads the inbox and closes it. If nothing was ever received there, calls `onMissing`, which says so by default and may throw,
 * and returns undefined.
 */
export async function withInboxReader<T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: InboxReader) => Promise<T>,
  onMissing?: (place: string) => void,
): Promise<T | undefined> {
  const location = await existingLocation(flags, context, onMissing);
  if (location === undefined) return undefined;
  return useAndClose(await openInboxReader({ location, clock: context.clock }), use);
}

/** The same for a command that writes. */
export async function withInbox<T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: Inbox) => Promise<T>,
  inboxOptions: Partial<InboxOptions> = {},
): Promise<T | undefined> {
  const location = await existingLocation(flags, context);
  if (location === undefined) return undefined;
  return useAndClose(await openInbox({ location, clock: context.clock, ...inboxOptions }), use);
}

async function existingLocation(
  flags: InboxFlags,
  context: Context,
  onMissing = (place: string): void =>
    context.messages.say(`nothing was received yet: there is no inbox at ${place}`),
): Promise<InboxOptions['location'] | undefined> {
  const location = await resolveInbox(flags, await context.settings(), context);
  if (isInboxThere(location)) return location;
  onMissing(locationText(location));
  return undefined;
}

async function useAndClose<Opened extends InboxReader, T>(
  inbox: Opened,
  use: (inbox: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await use(inbox);
  } finally {
    await inbox.close();
  }
}
