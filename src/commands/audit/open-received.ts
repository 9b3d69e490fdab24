import { describeWarning } from '../../messages/command-line.ts';
import { rejectionsIn } from '../../audit/received-leads.ts';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import { isInboxThere, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { leadPlaceOf } from '../flags/lead-at.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { AuditCommandOptions } from './options.ts';
import { type OpenedReceived, openReceivedFile } from './received-file.ts';

/** Throws a `ConfigError` where nothing was ever received: everything would be missing. */
export async function openReceived(options: AuditCommandOptions, context: Context): Promise<OpenedReceived> {
  if (options.received !== undefined)
    return openReceivedFile(options.received, options.leadAt ?? 'auto', context);
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  if (!isInboxThere(location)) {
    throw new ConfigError(
      `there is no inbox at ${locationText(location)}, so there is nothing to compare with`,
      {
        hint: "'leads listen' makes it; name another one with --inbox FILE, or an export of your application with --received FILE",
      },
    );
  }
  const { clock, pid, messages } = context;
  const writable = options.takeIn
    ? await openInbox({ location, clock, pid, warn: (found) => messages.warn(describeWarning(found)) })
    : undefined;
  const inbox = writable ?? (await openInboxReader({ location, clock }));
  return {
    name: `the inbox ${locationText(location)}`,
    leads: inbox,
    store: writable,
    undecidable: [],
    hasTimes: true,
    rejections: () => rejectionsIn(inbox, leadPlaceOf(settings)),
    close: () => inbox.close(),
  };
}
