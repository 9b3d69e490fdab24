import type { Context, Outcome } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import { compact, utf8 } from '../../json/bytes.ts';
import { renderFields } from '../../output/fields.ts';
import { cellText, eachValue } from '../../output/records/json-members.ts';
import { stdoutWriter } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import type { ShowOptions } from './command.ts';
import { findLeads } from './find-leads.ts';

export async function run({ id, format, ...options }: ShowOptions, context: Context): Promise<Outcome> {
  const { leads, fromInbox, failure } = await findLeads([id], options, context);
  if (failure !== undefined && fromInbox.length > 0 && !(failure instanceof ConfigError)) {
    context.messages.note('show', `this is the inbox's copy: ${failure.message}`);
  }
  const bytes = compact(leads.get(id) ?? Buffer.alloc(0));
  await (format === 'table' ? writeFields(bytes, context) : writeRecord(bytes, context));
  return 'done';
}

async function writeFields(bytes: Uint8Array, context: Context): Promise<void> {
  const { stdout } = context;
  const { dim } = await paletteFor(stdout, context);
  const members: [string, string][] = [];
  eachValue(utf8(bytes), (path, raw) => members.push([path, cellText(raw)]));
  if (members.length === 0) return;
  const width = terminalWidth(stdout);
  await write(stdout, renderFields(members, { width, paintName: dim }));
}

async function writeRecord(bytes: Uint8Array, { stdout }: Context): Promise<void> {
  const writer = await stdoutWriter('ndjson', stdout);
  await writer.write([{ bytes }]);
  await writer.end();
}
