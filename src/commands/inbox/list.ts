import type { Context, Outcome } from '../../context.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { type FitOptions, writeTable } from '../../output/table.ts';
import { formatInstant } from '../../time/zone.ts';
import { deliverySummary, objectWriter, summaryColumns } from './delivery-json.ts';
import { resolveWindow } from '../flags/resolve-filter.ts';
import type { InboxListOptions } from './command.ts';
import { withInboxReader } from './with-inbox.ts';

export async function run(options: InboxListOptions, context: Context): Promise<Outcome> {
  const { verdict, limit, format, zone = 'UTC' } = options;
  const { messages } = context;
  const { since, until } = resolveWindow(options, context.clock.now(), messages);
  const query = { verdicts: verdict.length === 0 ? undefined : verdict, since, until };
  const records = format === 'table' ? undefined : await objectWriter(format, context.stdout, summaryColumns);
  const rows: string[][] = [];
  const list = await withInboxReader(options, context, async (inbox) => {
    let count = 0;
    let oldest = 0;
    let hasMore = false;
    for await (const delivery of inbox.list(query)) {
      hasMore = count === limit;
      if (hasMore) break;
      count += 1;
      oldest = delivery.receivedAt;
      if (records === undefined) rows.push(rowOf(delivery, zone));
      else await records.write(deliverySummary(delivery));
    }
    return { isEmpty: count === 0, oldest, hasMore };
  });
  await records?.end();
  if (rows.length > 0) await writeTable(heads, rows, fit, context);
  if (list?.isEmpty === true) messages.say('no delivery matches');
  if (list?.hasMore === true) {
    // More may have arrived in the same millisecond than the limit lets show: rather twice than never.
    const end = list.oldest + 1;
    const window = end === until ? '' : `, or --until ${new Date(end).toISOString()}`;
    messages.say(`older deliveries are not shown: --limit all${window}`);
  }
  return 'done';
}

const heads = ['NO', 'RECEIVED', 'VERDICT', 'STATUS', 'LEAD', 'ATTEMPT', 'FROM', 'REMARK'];

/** On a narrow terminal ids and times stay whole. */
const fit: FitOptions = {
  cutLast: ['NO', 'RECEIVED', 'LEAD'],
  narrowing: [
    { drop: 'FROM' },
    { drop: 'ATTEMPT' },
    { shorten: 'RECEIVED' },
    { drop: 'STATUS' },
    { drop: 'REMARK' },
    { drop: 'VERDICT' },
  ],
};

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

const differsText = (differs: readonly string[]): string =>
  differs[0] === '*' ? 'differs, not compared in detail' : `differs: ${differs.join(', ')}`;
