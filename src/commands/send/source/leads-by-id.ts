import type { Context } from '../../../context.ts';
import { ConfigError, LeadNotFoundError, LeadsError } from '../../../errors.ts';
import { leadBytes } from '../../../inbox/lead-bytes.ts';
import { openService } from '../../../service/client/service.ts';
import { listLeads } from '../../../service/listing/listing.ts';
import { unprovenHandler } from '../../flags/accept-incomplete-flag.ts';
import { withInboxReader } from '../../inbox/with-inbox.ts';
import type { SendOptions } from '../options.ts';
import type { LeadSource, SourceLead } from './source-lead.ts';

/**
 * `--id`: from the service, then from the inbox, which also answers where the service cannot. Throws a `LeadNotFoundError`
 * before anything is sent when one of them is nowhere.
 */
export async function* leadsById(options: SendOptions, context: Context): LeadSource {
  const found = new Map<string, SourceLead>();
  const failure = await pull(options, found, context).catch((error: unknown) => {
    if (error instanceof LeadsError && !context.signal.aborted) return error;
    throw error;
  });
  const missing = (): string[] => options.id.filter((id) => !found.has(id));
  if (missing().length > 0) await readInbox(missing(), options, found, context);
  const [first] = missing();
  if (first !== undefined) {
    if (failure !== undefined && !(failure instanceof ConfigError)) throw failure;
    const places = failure === undefined ? 'neither in the service nor in the inbox' : 'not in the inbox';
    throw new LeadNotFoundError(`there is no lead '${first}', ${places}`, {
      hint: failure === undefined ? undefined : `the service was not asked: ${failure.message}`,
    });
  }
  yield options.id.flatMap((id) => found.get(id) ?? []);
}

/** The specification has no operation for one lead, so the list is walked until all of them came by. */
async function pull(
  { id, acceptIncomplete }: SendOptions,
  found: Map<string, SourceLead>,
  context: Context,
): Promise<undefined> {
  const service = await openService(context);
  const wanted = new Set(id);
  const acceptUnproven = unprovenHandler(acceptIncomplete, context.messages);
  for await (const { leads } of listLeads(service, { query: {}, prefetch: true, acceptUnproven })) {
    for (const lead of leads) {
      if (lead.id === undefined || !wanted.delete(lead.id)) continue;
      found.set(lead.id, { leadId: lead.id, body: Buffer.from(lead.bytes) });
    }
    if (wanted.size === 0) return;
  }
}

/** Of each lead the bytes that were received first: its own, without what came around them. */
async function readInbox(
  ids: readonly string[],
  flags: SendOptions,
  found: Map<string, SourceLead>,
  context: Context,
): Promise<void> {
  await withInboxReader(flags, context, async (inbox) => {
    for (const leadId of ids) {
      for await (const { verdict, body, place } of inbox.list({ leadId })) {
        if (verdict !== 'rejected') found.set(leadId, { leadId, body: leadBytes(body, place) });
      }
    }
  });
}
