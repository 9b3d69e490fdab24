import * as z from 'zod/mini';
import { readCreatedAt } from '../../lead/created-at.ts';
import type { Context } from '../../context.ts';
import { ConfigError, DataError, LeadsError } from '../../errors.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { cellText, eachMember } from '../../output/cells.ts';
import { paletteFor } from '../../output/colour.ts';
import { renderFields } from '../../output/fields.ts';
import { recordWriter, streamSink } from '../../output/records.ts';
import { relativeTime } from '../../output/relative.ts';
import { write } from '../../output/sink.ts';
import { terminalWidth } from '../../output/terminal.ts';
import { listLeads } from '../../service/listing/listing.ts';
import { openService } from '../../service/client/service.ts';
import type { Outcome } from '../command-spec.ts';
import { fieldList, flag, oneOf, text } from '../values.ts';
import { fromInbox } from './from-inbox.ts';
import { utf8 } from '../../json/bytes.ts';

export const options = z.object({
  format: oneOf(['table', 'json', 'ndjson']),
  id: text(),
  fields: z.optional(fieldList()),
  relative: flag(),
  inbox: z.optional(text()),
});

type ShowOptions = z.output<typeof options>;

/** The service first, then the inbox, which also answers when the service cannot. */
export async function run(given: ShowOptions, context: Context): Promise<Outcome> {
  const pulled = await fromService(given.id, context).catch((error: unknown) => {
    if (error instanceof LeadsError && !context.signal.aborted) return error;
    throw error;
  });
  const lead =
    pulled === undefined || pulled instanceof LeadsError
      ? await fromInbox(given.id, given.inbox, context)
      : pulled;
  if (lead === undefined) {
    if (pulled instanceof LeadsError) throw pulled;
    throw new DataError(`there is no lead '${given.id}', neither in the service nor in the inbox`);
  }
  if (pulled instanceof LeadsError && !(pulled instanceof ConfigError)) {
    context.messages.note('show', `this is the inbox's copy: ${pulled.message}`);
  }
  if (given.format === 'table') await draw(lead, given, context);
  else await print(lead, given, context);
  return 'done';
}

/** The specification has no operation for one lead, so the list is walked until it comes by. */
async function fromService(id: string, context: Context): Promise<RawLead | undefined> {
  const service = await openService(context);
  for await (const { leads } of listLeads(service, { query: {}, prefetch: true })) {
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
    (path) => fields?.includes(path) ?? false,
  );
  const chosen =
    fields === undefined
      ? members
      : fields.flatMap((field) => members.filter(([path]) => path === field || path.startsWith(`${field}.`)));
  const now = clock.now();
  const shown = chosen.map(([path, value]): [string, string] => {
    const time = relative && /^\d{4}-\d\d-\d\dT/.test(value) ? readCreatedAt(value) : undefined;
    return [path, time === undefined ? value : relativeTime(time, now)];
  });
  const width = terminalWidth(stdout);
  await write(stdout, renderFields(shown, { width, name: dim }));
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
