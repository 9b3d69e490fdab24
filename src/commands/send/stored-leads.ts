import { sentenceOf } from '../../messages/find-message.ts';
import type { Context } from '../../context.ts';
import { ConfigError, LeadNotFoundError, LeadsError, UsageError } from '../../errors.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { isInboxThere, locationText, openInboxReader } from '../../inbox/open-inbox.ts';
import { leadFilter } from '../../lead/filter.ts';
import { readStoredLead } from '../../lead/read-leads.ts';
import { isTestId } from '../../lead/test-id.ts';
import { counted } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { noteFilters } from '../../output/filter-notes.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';
import type { SendOptions } from './options.ts';
import type { LeadSource, SourceLead } from '../../sender/sender.ts';

/**
 * `--id`: from the service, then from the inbox, which also answers where the service cannot. Throws a `LeadNotFoundError`
 * before anything is sent when one of them is nowhere. `elsewhere` is another machine: throws a `UsageError` for a test lead
 * of the inbox.
 */
export async function* leadsById(
  options: SendOptions,
  elsewhere: string | undefined,
  context: Context,
): LeadSource {
  const leads = new Map<string, SourceLead>();
  const failure = await pull(options, leads, context).catch((error: unknown) => {
    if (error instanceof LeadsError && !context.signal.aborted) return error;
    throw error;
  });
  const missing = (): string[] => options.id.filter((id) => !leads.has(id));
  const fromInbox = missing();
  if (fromInbox.length > 0) await readInbox(fromInbox, options, leads, context);
  const [first] = missing();
  if (first !== undefined) {
    if (failure !== undefined && !(failure instanceof ConfigError)) throw failure;
    const places = failure === undefined ? 'neither in the service nor in the inbox' : 'not in the inbox';
    throw new LeadNotFoundError(`there is no lead '${first}', ${places}`, {
      hint: failure === undefined ? undefined : `the service was not asked: ${sentenceOf(failure)}`,
    });
  }
  const test = fromInbox.find(isTestId);
  if (elsewhere !== undefined && test !== undefined) {
    throw new UsageError(`the test lead '${test}' would go to ${elsewhere}, which is another machine`, {
      hint: 'add --yes if somebody there expects test leads',
    });
  }
  yield options.id.flatMap((id) => leads.get(id) ?? []);
}

/** The specification has no operation for one lead, so the list is walked until all of them came by. */
async function pull(
  { id, acceptIncomplete }: SendOptions,
  byId: Map<string, SourceLead>,
  context: Context,
): Promise<undefined> {
  const service = await openService(context);
  const missing = new Set(id);
  const acceptUnproven = unprovenHandler(acceptIncomplete, context.messages);
  for await (const { leads } of listLeads(service, { query: {}, prefetch: true, acceptUnproven })) {
    for (const lead of leads) {
      if (lead.id === undefined || !missing.delete(lead.id)) continue;
      byId.set(lead.id, { leadId: lead.id, body: Buffer.from(lead.bytes) });
    }
    if (missing.size === 0) return;
  }
}

/** The bytes of a lead that were received first count, without what came around them. */
async function readInbox(
  ids: readonly string[],
  flags: SendOptions,
  byId: Map<string, SourceLead>,
  context: Context,
): Promise<void> {
  await withInboxReader(flags, context, async (inbox) => {
    for (const leadId of ids) {
      for await (const { verdict, body, place } of inbox.list({ leadId })) {
        if (verdict !== 'rejected') byId.set(leadId, { leadId, body: leadBytes(body, place) });
      }
    }
  });
}

const batchSize = 64;

/** `--from service`: every lead that matches, in the order and the bytes of the service. */
export async function* leadsOfService(options: SendOptions, context: Context): LeadSource {
  const { clock, messages } = context;
  const service = await openService(context);
  const { query, filter } = resolveFilter(options, clock.now(), messages);
  const matcher = leadFilter(filter);
  const acceptUnproven = unprovenHandler(options.acceptIncomplete, messages);
  for await (const { leads } of listLeads(service, { query, prefetch: true, acceptUnproven })) {
    const matching = leads.filter(matcher.matches);
    if (matching.length > 0) yield matching.map(({ id, bytes }) => ({ leadId: id, body: bytes }));
  }
  noteFilters(matcher, messages);
}

/**
 * `--from inbox`: every lead that matches as it was received, in order of arrival. `elsewhere` is another machine, to which
 * no test lead goes.
 */
export async function* leadsOfInbox(
  options: SendOptions,
  elsewhere: string | undefined,
  context: Context,
): LeadSource {
  const { clock, messages } = context;
  const { filter } = resolveFilter(options, clock.now(), messages);
  const matcher = leadFilter(filter);
  const location = await resolveInbox(options, await context.settings(), context);
  if (!isInboxThere(location)) {
    throw new ConfigError(`nothing was received yet: there is no inbox at ${locationText(location)}`);
  }
  const inbox = await openInboxReader({ location, clock });
  let leftOut = 0;
  try {
    let batch: SourceLead[] = [];
    for await (const { leadId, body } of inbox.leads({})) {
      const read = readStoredLead(body, leadId);
      if (read.ok && !matcher.matches(read.lead)) continue;
      if (elsewhere !== undefined && isTestId(leadId)) {
        leftOut += 1;
        continue;
      }
      batch.push({ leadId, body });
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  } finally {
    await inbox.close();
  }
  if (leftOut > 0) {
    const leads = counted(leftOut, 'test lead is', 'test leads are');
    messages.note('test', `${leads} left out: ${elsewhere ?? ''} is another machine; --yes sends them, too`);
  }
  noteFilters(matcher, messages);
}
