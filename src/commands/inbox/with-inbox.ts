import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import type { Inbox, InboxReader } from '../../inbox/inbox.ts';
import {
  type InboxLocation,
  type InboxOptions,
  missingInbox,
  openInbox,
  openInboxReader,
} from '../../inbox/open-inbox.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { isInboxNamed, resolveInbox } from '../flags/resolve-inbox.ts';

/**
 * Reads the inbox and closes it. If it is missing, it returns undefined after `onMissing`, which gets a clause that says so. Without
 * that it throws a `ConfigError` for an inbox that a person named, and otherwise says that nothing was received.
 */
export async function withInboxReader<T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: InboxReader) => Promise<T>,
  onMissing?: (missing: string) => void,
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
  onMissing?: (missing: string) => void,
): Promise<InboxOptions['location'] | undefined> {
  const location = await resolveInbox(flags, await context.settings(), context);
  const missing = missingInbox(location);
  if (missing === undefined) return location;
  if (onMissing !== undefined) onMissing(missing);
  else if (isInboxNamed(flags, context.env)) throw missingError(missing);
  else context.messages.say(`nothing was received yet: ${missing}`);
  return undefined;
}

const missingError = (missing: string, hint = "'leads listen' makes it"): ConfigError =>
  new ConfigError(missing, { hint });

export function rejectMissing(location: InboxLocation, hint?: string): void {
  const missing = missingInbox(location);
  if (missing !== undefined) throw missingError(missing, hint);
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
