import { readCreatedAt } from '../../lead/created-at.ts';
import type { Context } from '../../context.ts';
import { ConfigError, LeadNotFoundError, LeadsError } from '../../errors.ts';
import { parseLead } from '../../lead/field.ts';
import { FieldPresence } from '../../lead/field-presence.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { FieldPaths } from '../../output/records/field-paths.ts';
import { cellText, eachMember } from '../../output/records/json-members.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { renderFields } from '../../output/table/fields.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { relativeTime } from '../../output/table/relative-time.ts';
import { write } from '../../output/write-stream.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import { listLeads } from '../../service/listing/listing.ts';
import { openService } from '../../service/client/service.ts';
import { unprovenHandler } from '../flags/accept-incomplete-flag.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { noteMissingFields } from '../flags/filter-notes.ts';
import type { ShowOptions } from './options.ts';
import { receivedLead } from './received-lead.ts';
import { utf8 } from '../../json/bytes.ts';

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
    context.messages.note('show', `this is the inbox's copy: ${pulled.message}`);
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
  const service = await openService(context);
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
    const time = relative && /^\d{4}-\d\d-\d\dT/.test(value) ? readCreatedAt(value) : undefined;
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
