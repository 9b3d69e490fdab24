import type { Context, Outcome } from '../../context.ts';
import { LeadNotFoundError, UsageError } from '../../errors.ts';
import type { DroppedRepeats, Forward, StoredDelivery } from '../../inbox/inbox.ts';
import { renderFields } from '../../output/fields.ts';
import { write } from '../../output/stdout.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { formatDuration } from '../../time/time-text.ts';
import { deliveryDetails, objectWriter } from './delivery-json.ts';
import type { InboxShowOptions } from './options.ts';
import { withInboxReader } from './with-inbox.ts';

export async function run(options: InboxShowOptions, context: Context): Promise<Outcome> {
  const { id, number } = options;
  if ((id === undefined) === (number === undefined)) {
    throw new UsageError("give a lead's id, or --number N of the list");
  }
  const found: StoredDelivery[] = [];
  let forwards: readonly Forward[] = [];
  let dropped: DroppedRepeats | undefined;
  await withInboxReader(options, context, async (inbox) => {
    for await (const delivery of inbox.list({ leadId: id, seq: number })) found.push(delivery);
    // A number that is no lead's id is one of the list.
    if (found.length === 0 && id !== undefined && /^\d{1,15}$/.test(id)) {
      for await (const delivery of inbox.list({ seq: Number(id) })) found.push(delivery);
    }
    const leadId = found[0]?.leadId;
    if (leadId !== undefined) forwards = (await inbox.forwards([leadId])).get(leadId) ?? [];
    if (id !== undefined) dropped = await inbox.droppedRepeats(id);
  });
  const [first] = found.reverse();
  if (first === undefined) {
    throw new LeadNotFoundError(
      `the inbox has no delivery ${id === undefined ? `number ${number ?? ''}` : `of the lead '${id}'`}`,
    );
  }
  if (options.raw) await write(context.stdout, first.body);
  else if (options.format === 'table') await draw(found, forwards, context);
  else await records(found, forwards, options.format, context);
  if (dropped !== undefined) sayDropped(dropped, context);
  return 'done';
}

async function draw(
  found: readonly StoredDelivery[],
  forwards: readonly Forward[],
  context: Context,
): Promise<void> {
  const { stdout } = context;
  const { bold, dim } = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  const parts = found.map((delivery) => {
    const { headers, results, forwards: states, ...rest } = deliveryDetails(delivery, forwards);
    const { body, bodyBase64, lead, differs, ...plain } = rest;
    const fields: [string, string][] = Object.entries(plain)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, String(value)]);
    if (differs !== null) fields.push(['differs', differs.join(', ')]);
    for (const { target, kind, answer, durationMs, at } of results) {
      fields.push([target, `${answer} (${formatDuration(durationMs)}) at ${at}, ${kind}`]);
    }
    for (const { target, state, tries, dueAt } of states) {
      const next = dueAt === null ? '' : `, due at ${dueAt}`;
      fields.push([target, `${state} after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}${next}`]);
    }
    for (const [name, value] of headers) fields.push([name, value]);
    if (lead !== undefined) fields.push(['lead', lead]);
    fields.push(['body', String(body ?? bodyBase64)]);
    return renderFields(fields, { width, name: dim });
  });
  const title = (i: number): string => bold(`delivery ${i + 1} of ${found.length}`);
  await write(stdout, parts.map((part, i) => `${title(i)}\n${part}`).join('\n'));
}

async function records(
  found: readonly StoredDelivery[],
  forwards: readonly Forward[],
  format: 'json' | 'ndjson',
  { stdout }: Context,
): Promise<void> {
  const writer = await objectWriter(format, stdout);
  for (const delivery of found) await writer.write(deliveryDetails(delivery, forwards));
  await writer.end();
}

function sayDropped({ differing, same }: DroppedRepeats, { messages }: Context): void {
  if (differing + same === 0) return;
  const parts = [
    differing > 0 ? `${differing} with another payload than the first` : undefined,
    same > 0 ? `${same} with the same payload` : undefined,
  ];
  messages.say(`older repeats are not kept: ${parts.filter((part) => part !== undefined).join(', ')}`);
}
