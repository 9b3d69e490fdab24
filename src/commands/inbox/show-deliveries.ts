import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { renderFields } from '../../output/table/fields.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/write-stream.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { InboxShowOptions } from './options.ts';
import { withInbox } from './with-inbox.ts';
import { deliveryDetails } from './delivery-json.ts';

export async function run(options: InboxShowOptions, context: Context): Promise<Outcome> {
  const { id, number } = options;
  if ((id === undefined) === (number === undefined)) {
    throw new UsageError("give a lead's id, or --number N of the list");
  }
  const found: StoredDelivery[] = [];
  await withInbox(options.inbox, context, async (inbox) => {
    for await (const delivery of inbox.list({ leadId: id, seq: number })) found.push(delivery);
  });
  const [first] = found.reverse();
  if (first === undefined) {
    throw new DataError(
      `the inbox has no delivery ${id === undefined ? `number ${number ?? ''}` : `of the lead '${id}'`}`,
    );
  }
  if (options.raw) await write(context.stdout, first.body);
  else if (options.format === 'table') await draw(found, context);
  else await records(found, options.format, context);
  return 'done';
}

async function draw(found: readonly StoredDelivery[], context: Context): Promise<void> {
  const { stdout } = context;
  const { bold, dim } = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  const parts = found.map((delivery) => {
    const { headers, body, bodyBase64, differs, ...rest } = deliveryDetails(delivery) as Record<
      string,
      unknown
    > & {
      headers: readonly (readonly [string, string])[];
    };
    const fields: [string, string][] = Object.entries(rest)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, String(value)]);
    if (Array.isArray(differs)) fields.push(['differs', differs.join(', ')]);
    for (const [name, value] of headers) fields.push([name, value]);
    fields.push(['body', String(body ?? bodyBase64)]);
    return renderFields(fields, { width, name: dim });
  });
  const title = (i: number): string => bold(`delivery ${i + 1} of ${found.length}`);
  await write(stdout, parts.map((part, i) => `${title(i)}\n${part}`).join('\n'));
}

async function records(
  found: readonly StoredDelivery[],
  format: 'json' | 'ndjson',
  { stdout }: Context,
): Promise<void> {
  const writer = await recordWriter(format, streamSink(stdout), { terminal: stdout.isTTY === true });
  await writer.write(
    found.map((delivery) => ({ bytes: Buffer.from(JSON.stringify(deliveryDetails(delivery))) })),
  );
  await writer.end();
}
