import type { Context, Outcome } from '../../context.ts';
import { ConfigError, LeadNotFoundError, LeadsError } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { utf8 } from '../../json/bytes.ts';
import { parseLead, type RawLead, readCreatedAt, leadBytes } from '../../lead/raw-lead.ts';
import { FieldPresence } from '../../lead/filter.ts';
import { readStoredLead } from '../../lead/read-leads.ts';
import { renderFields } from '../../output/fields.ts';
import { cellText, eachMember, FieldPaths } from '../../output/records/json-members.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { relativeTime } from '../../output/table.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing/lead-pages.ts';
import { unprovenHandler } from '../flags/polling.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { noteMissingFields } from '../../messages/filter-notes.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';

interface ShowOptions extends InboxFlags {
  readonly id: string;
  readonly fields: readonly string[] | undefined;
  readonly relative: boolean;
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
  if (options.fields !== undefined) {
    const fields = new FieldPresence(options.fields);
    fields.look(parseLead(lead));
    noteMissingFields('--fields', fields, context.messages);
  }
  if (options.format === 'table') await draw(lead, options, context);
  else await print(lead, options, context);
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

async function draw(lead: RawLead, { fields, relative }: ShowOptions, context: Context): Promise<void> {
  const { stdout, clock } = context;
  const { dim } = await paletteFor(stdout, context);
  const members: [string, string][] = [];
  eachMember(
    utf8(lead.bytes),
    (path, raw) => members.push([path, cellText(raw)]),
    fields === undefined ? undefined : new FieldPaths(fields),
  );
  const chosen = fields === undefined ? members : fields.flatMap((field) => membersOf(field, members));
  if (chosen.length === 0) return;
  const now = clock.now();
  const shown = chosen.map(([path, value]): [string, string] => {
    const mayBeTime = path === 'createdAt' || /^\d{4}-\d\d-\d\dT/.test(value);
    const time = relative && mayBeTime ? readCreatedAt(value) : undefined;
    return [path, time === undefined ? value : relativeTime(time, now)];
  });
  const width = terminalWidth(stdout);
  await write(stdout, renderFields(shown, { width, name: dim }));
}

/** What an object holds, a member a line, or else the field itself. */
function membersOf(field: string, members: readonly [string, string][]): readonly [string, string][] {
  const below = members.filter(([path]) => path.startsWith(`${field}.`));
  const held = below.filter(([path]) => !below.some(([other]) => other.startsWith(`${path}.`)));
  return held.length > 0 ? held : members.filter(([path]) => path === field);
}

async function print(lead: RawLead, { fields }: ShowOptions, { stdout }: Context): Promise<void> {
  // One lead is one object, in either form.
  const writer = await recordWriter('ndjson', streamSink(stdout), {
    fields,
    terminal: stdout.isTTY === true,
  });
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
