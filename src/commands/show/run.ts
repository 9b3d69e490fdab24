import type { Context, Outcome } from '../../context.ts';
import { ConfigError, LeadNotFoundError, LeadsError } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { utf8 } from '../../json/bytes.ts';
import { type RawLead, leadBytes } from '../../lead/raw-lead.ts';
import { readStoredLead } from '../../lead/read-leads.ts';
import { renderFields } from '../../output/fields.ts';
import { cellText, eachMember } from '../../output/records/json-members.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { unprovenHandler } from '../flags/polling.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';

interface ShowOptions extends InboxFlags {
  readonly id: string;
  readonly acceptIncomplete: boolean;
  readonly format: string;
}

/** The service first, then the inbox, which also answers when the service cannot. */
export async function run(options: ShowOptions, context: Context): Promise<Outcome> {
  const pulled = await fromService(options, context).catch((error: unknown) => {
    if (error instanceof LeadsError && !context.signal.aborted) return error;
    throw error;
  });
  const lead =
    pulled === undefined || pulled instanceof LeadsError
      ? await receivedLead(options.id, options, context)
      : pulled;
  if (lead === undefined) {
    if (pulled instanceof LeadsError) throw pulled;
    throw new LeadNotFoundError(`there is no lead '${options.id}', neither in the service nor in the inbox`);
  }
  if (pulled instanceof LeadsError && !(pulled instanceof ConfigError)) {
    const { sentenceOf } = await import('../../messages/find-message.ts');
    context.messages.note('show', `this is the inbox's copy: ${sentenceOf(pulled)}`);
  }
  if (options.format === 'table') await draw(lead, context);
  else await print(lead, context);
  return 'done';
}

/** The specification has no operation for one lead, so the list is walked until it comes by. */
async function fromService(
  { id, acceptIncomplete }: ShowOptions,
  context: Context,
): Promise<RawLead | undefined> {
  const service = await openService(context, { asksOnce: true });
  const acceptUnproven = unprovenHandler(acceptIncomplete, context.messages);
  for await (const { leads } of listLeads(service, { query: {}, prefetch: true, acceptUnproven })) {
    const found = leads.find((lead) => lead.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function draw(lead: RawLead, context: Context): Promise<void> {
  const { stdout } = context;
  const { dim } = await paletteFor(stdout, context);
  const members: [string, string][] = [];
  eachMember(utf8(lead.bytes), (path, raw) => members.push([path, cellText(raw)]));
  if (members.length === 0) return;
  const width = terminalWidth(stdout);
  await write(stdout, renderFields(members, { width, name: dim }));
}

async function print(lead: RawLead, { stdout }: Context): Promise<void> {
  // One lead is one object, in either form.
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  await writer.write([lead]);
  await writer.end();
}

/** The lead as it was first received; undefined when it was not, or when there is no inbox. */
async function receivedLead(id: string, flags: InboxFlags, context: Context): Promise<RawLead | undefined> {
  let first: RawLead | undefined;
  const read = async (inbox: InboxReader): Promise<void> => {
    for await (const { verdict, body, place } of inbox.list({ leadId: id })) {
      const reading = verdict === 'rejected' ? undefined : readStoredLead(leadBytes(body, place), id);
      if (reading?.ok === true) first = reading.lead;
    }
  };
  await withInboxReader(flags, context, read, () => undefined);
  return first;
}
