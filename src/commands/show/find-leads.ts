import type { Context } from '../../context.ts';
import { LeadNotFoundError, LeadsError } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { missingInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { unprovenHandler } from '../flags/polling.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';

interface FindOptions extends InboxFlags {
  readonly acceptIncomplete: boolean;
}

/**
 * The bytes of each lead by its id, the ids of those that come `fromInbox` because the service did not list them, and the error
 * with which the service failed, if it did.
 */
export interface FoundLeads {
  readonly leads: ReadonlyMap<string, Uint8Array>;
  readonly fromInbox: readonly string[];
  readonly failure: LeadsError | undefined;
}

/** Looks in the service, then in the inbox. Throws a `LeadNotFoundError`, or the service's error, for a lead that is in neither. */
export async function findLeads(
  ids: readonly string[],
  options: FindOptions,
  context: Context,
): Promise<FoundLeads> {
  const leads = new Map<string, Uint8Array>();
  const failure = await addFromService(leads, new Set(ids), options, context).catch((error: unknown) => {
    if (error instanceof LeadsError && !context.signal.aborted) return error;
    throw error;
  });
  const fromInbox = ids.filter((id) => !leads.has(id));
  if (fromInbox.length > 0) {
    const location = await resolveInbox(options, await context.settings(), context);
    if (missingInbox(location) === undefined) {
      const inbox = await openInboxReader({ location, clock: context.clock });
      await addFromInbox(leads, fromInbox, inbox).finally(() => inbox.close());
    }
  }
  const absent = fromInbox.find((id) => !leads.has(id));
  if (absent === undefined) return { leads, fromInbox, failure };
  throw (
    failure ?? new LeadNotFoundError(`there is no lead '${absent}', neither in the service nor in the inbox`)
  );
}

async function addFromInbox(
  leads: Map<string, Uint8Array>,
  leadIds: readonly string[],
  inbox: InboxReader,
): Promise<void> {
  for (const leadId of leadIds) {
    // The oldest delivery comes last: its copy of the lead replaces those of later deliveries.
    for await (const { verdict, body, place } of inbox.list({ leadId })) {
      if (verdict !== 'rejected') leads.set(leadId, leadBytes(body, place));
    }
  }
}

/** The specification has no operation for one lead, so this walks the list until no lead is missing. */
async function addFromService(
  leads: Map<string, Uint8Array>,
  missing: Set<string>,
  { acceptIncomplete }: FindOptions,
  context: Context,
): Promise<undefined> {
  const service = await openService(context, { asksOnce: true });
  const acceptUnproven = unprovenHandler(acceptIncomplete, context.messages);
  for await (const page of listLeads(service, { query: {}, prefetch: true, acceptUnproven })) {
    for (const { id, bytes } of page.leads) {
      if (id !== undefined && missing.delete(id)) leads.set(id, Buffer.from(bytes));
    }
    if (missing.size === 0) return;
  }
}
