import { statSync } from 'node:fs';
import type { Context, Outcome } from '../../context.ts';
import type { InboxQuery, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { utf8 } from '../../json/bytes.ts';
import { type Json, parseExact } from '../../json/exact.ts';
import { textFinder } from '../../lead/filter.ts';
import { type FitOptions, shortTimes, writeTable } from '../../output/table.ts';
import { formatInstant } from '../../time/zone.ts';
import { deliverySummary, objectWriter } from './delivery-json.ts';
import { resolveWindow } from '../flags/resolve-filter.ts';
import type { InboxListOptions } from './options.ts';
import { withInboxReader } from './with-inbox.ts';

export async function run(options: InboxListOptions, context: Context): Promise<Outcome> {
  const { since, until } = resolveWindow(options, context.clock.now(), context.messages);
  const query = { verdicts: options.verdict.length === 0 ? undefined : options.verdict, since, until };
  if (options.format === 'table') await table(options, query, context);
  else await records(options, options.format, query, context);
  return 'done';
}

/** How the table fits a narrow terminal: ids and times stay whole. */
const fit: FitOptions = {
  whole: ['NO', 'RECEIVED', 'LEAD'],
  narrowing: [
    { drop: 'FROM' },
    { drop: 'ATTEMPT' },
    { shorten: 'RECEIVED' },
    { drop: 'STATUS' },
    { drop: 'REMARK' },
    { drop: 'VERDICT' },
  ],
  short: shortTimes,
};

async function table(options: InboxListOptions, query: InboxQuery, context: Context): Promise<void> {
  const { messages } = context;
  const { limit: most, zone = 'UTC' } = options;
  const found: StoredDelivery[] = [];
  const size = await withInboxReader(options, context, async (inbox) => {
    for await (const delivery of firstOf(inbox, query, options.text, most + 1)) found.push(delivery);
    return inboxSize(inbox.location);
  });
  if (size === undefined) return;
  const hasMore = found.length > most;
  if (hasMore) found.pop();
  if (found.length === 0) messages.say('no delivery matches');
  else {
    const heads = ['NO', 'RECEIVED', 'VERDICT', 'STATUS', 'LEAD', 'ATTEMPT', 'FROM', 'REMARK'];
    const rows = found.map((delivery) => rowOf(delivery, zone));
    await writeTable(heads, rows, fit, context);
  }
  if (hasMore) messages.say(`older deliveries are not shown: --limit all, or --until ${last(found)}`);
  messages.say(size);
}

async function records(
  options: InboxListOptions,
  format: 'json' | 'ndjson' | 'csv',
  query: InboxQuery,
  context: Context,
): Promise<void> {
  const writer = await objectWriter(format, context.stdout);
  await withInboxReader(options, context, async (inbox) => {
    context.messages.say(inboxSize(inbox.location));
    for await (const delivery of firstOf(inbox, query, options.text, options.limit)) {
      await writer.write(deliverySummary(delivery));
    }
  });
  await writer.end();
}

async function* firstOf(
  inbox: InboxReader,
  query: InboxQuery,
  text: string | undefined,
  most: number,
): AsyncGenerator<StoredDelivery> {
  const finds = text === undefined ? undefined : textFinder(text);
  let left = most;
  for await (const delivery of inbox.list(query)) {
    if (finds !== undefined && !finds(valueOf(delivery))) continue;
    if (left === 0) return;
    left -= 1;
    yield delivery;
  }
}

/** A body that is no JSON is looked at as the text that it is. */
function valueOf({ leadId, body, place }: StoredDelivery): Json {
  const text = utf8(leadBytes(body, place));
  try {
    return [leadId ?? null, parseExact(text)];
  } catch (error) {
    if (error instanceof SyntaxError) return [leadId ?? null, text];
    throw error;
  }
}

function rowOf(delivery: StoredDelivery, zone: string): string[] {
  const { seq, receivedAt, verdict, status, leadId, attempt, remote, reason, differs, source } = delivery;
  const remarks = [reason, source === 'backfill' ? 'backfill' : undefined, differs && differsText(differs)];
  return [
    String(seq),
    formatInstant(receivedAt, zone, true),
    verdict,
    String(status),
    leadId ?? '',
    leadId === undefined ? '' : String(attempt),
    remote,
    remarks.filter((text) => text !== undefined).join(' '),
  ];
}

const last = (found: readonly StoredDelivery[]): string =>
  new Date(found.at(-1)?.receivedAt ?? 0).toISOString();

const differsText = (differs: readonly string[]): string =>
  differs[0] === '*' ? 'differs, not compared in detail' : `differs: ${differs.join(', ')}`;

/** What the files of an inbox take, in words; of one in a database, only where it is. */
function inboxSize(path: string): string {
  if (/^postgres:\/\//.test(path)) return `the inbox is ${path}`;
  const bytes = [path, `${path}-wal`]
    .map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
  return `the inbox ${path} takes ${bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`}`;
}
