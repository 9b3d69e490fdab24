import type { Context, Outcome } from '../../context.ts';
import { LeadNotFoundError } from '../../errors.ts';
import type { Forward, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { renderFields } from '../../output/fields.ts';
import { write } from '../../output/stdout.ts';
import { counted } from '../../output/terminal/progress.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { formatDuration } from '../../time/time-text.ts';
import { deliveryDetails, objectWriter } from './delivery-json.ts';
import type { InboxShowOptions } from './command.ts';
import { withInboxReader } from './with-inbox.ts';

export async function run(options: InboxShowOptions, context: Context): Promise<Outcome> {
  const { id } = options;
  const deliveries: StoredDelivery[] = [];
  let forwards: readonly Forward[] = [];
  let dropped = 0;
  const isThere = await withInboxReader(options, context, async (inbox) => {
    for await (const delivery of inbox.list({ leadId: id })) deliveries.unshift(delivery);
    // A number that is no lead's id is one of the list.
    if (deliveries.length === 0 && /^\d{1,15}$/.test(id)) {
      for await (const delivery of inbox.list({ seq: Number(id) })) deliveries.push(delivery);
    }
    const leadId = deliveries[0]?.leadId;
    if (leadId === undefined) return true;
    forwards = (await inbox.forwards([leadId])).get(leadId) ?? [];
    dropped = await countDropped(inbox, leadId);
    return true;
  });
  if (isThere === undefined) return 'problems';
  const [first] = deliveries;
  if (first === undefined) throw new LeadNotFoundError(`the inbox has no delivery of the lead '${id}'`);
  if (options.raw) await write(context.stdout, first.body);
  else {
    const details = deliveries.map((delivery) => deliveryDetails(delivery, forwards));
    if (options.format === 'table') await draw(details, context);
    else {
      const writer = await objectWriter(options.format, context.stdout);
      for (const record of details) await writer.write(record);
      await writer.end();
    }
  }
  if (dropped > 0)
    context.messages.say(`${counted(dropped, 'delivery', 'deliveries')} of the lead not kept any more`);
  return 'done';
}

async function draw(
  deliveries: readonly ReturnType<typeof deliveryDetails>[],
  context: Context,
): Promise<void> {
  const { stdout } = context;
  const { bold, dim } = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  const parts = deliveries.map((delivery, i) => {
    const { headers, results, forwards, body, bodyBase64, lead, differs, ...summary } = delivery;
    const fields: [string, string][] = Object.entries(summary)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, String(value)]);
    if (differs !== null) fields.push(['differs', differs.join(', ')]);
    for (const { target, kind, answer, durationMs, at: endedAt } of results) {
      fields.push([target, `${answer} (${formatDuration(durationMs)}) at ${endedAt}, ${kind}`]);
    }
    for (const { target, state, tries, dueAt } of forwards) {
      const next = dueAt === null ? '' : `, due at ${dueAt}`;
      fields.push([target, `${state} after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}${next}`]);
    }
    for (const [name, value] of headers) fields.push([name, value]);
    if (lead !== undefined) fields.push(['lead', lead]);
    fields.push(['body', String(body ?? bodyBase64)]);
    return `${bold(`delivery ${i + 1} of ${deliveries.length}`)}\n${renderFields(fields, { width, paintName: dim })}`;
  });
  await write(stdout, parts.join('\n'));
}

async function countDropped(inbox: Pick<InboxReader, 'list'>, leadId: string): Promise<number> {
  let [storedCount, latest] = [0, 0];
  for await (const { attempt } of inbox.list({ leadId, verdicts: ['accepted', 'duplicate'] })) {
    storedCount += 1;
    latest = Math.max(latest, attempt);
  }
  return latest - storedCount;
}
