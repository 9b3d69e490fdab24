import { isUtf8 } from 'node:buffer';
import type { Context, Outcome } from '../../context.ts';
import type { Forward, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { compact, utf8 } from '../../json/bytes.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { renderFields } from '../../output/fields.ts';
import { objectWriter, stdoutWriter } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, writeTable } from '../../output/table.ts';
import { counted } from '../../output/terminal/progress.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { noDeliveryOfLead } from '../../receiver/errors.ts';
import { formatDuration } from '../../time/time-text.ts';
import { formatInstant } from '../../time/zone.ts';
import { failIfNoneYet, withInboxReader } from '../flags/resolve-inbox.ts';
import { resolveWindow } from '../flags/shared-flags.ts';
import {
  type InboxExportOptions,
  type InboxListOptions,
  type InboxShowOptions,
  summaryFields,
} from './command.ts';

export async function listDeliveries(options: InboxListOptions, context: Context): Promise<Outcome> {
  const { verdict, limit, format, zone = 'UTC' } = options;
  const { messages } = context;
  const { since, until } = resolveWindow(options, context.clock.now(), messages);
  const query = { verdicts: verdict.length === 0 ? undefined : verdict, since, until };
  const records = format === 'table' ? undefined : await objectWriter(format, context.stdout, summaryFields);
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

export async function showDeliveries(options: InboxShowOptions, context: Context): Promise<Outcome> {
  const { id } = options;
  const deliveries: StoredDelivery[] = [];
  let forwards: readonly Forward[] = [];
  let dropped = 0;
  const find = async (inbox: InboxReader): Promise<void> => {
    for await (const delivery of inbox.list({ leadId: id })) deliveries.unshift(delivery);
    // A number that is no lead's id is one of the list.
    if (deliveries.length === 0 && /^\d{1,15}$/.test(id)) {
      for await (const delivery of inbox.list({ seq: Number(id) })) deliveries.push(delivery);
    }
    const leadId = deliveries[0]?.leadId;
    if (leadId === undefined) return;
    forwards = (await inbox.forwards([leadId])).get(leadId) ?? [];
    dropped = await countDropped(inbox, leadId);
  };
  await withInboxReader(options, context, find, failIfNoneYet);
  const [first] = deliveries;
  if (first === undefined) throw noDeliveryOfLead(id);
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

export async function exportLeads(options: InboxExportOptions, context: Context): Promise<Outcome> {
  const { stdout, clock, messages } = context;
  const { webhookId: idName } = await context.settings();
  const writer = await stdoutWriter(options.format, stdout, { idName });
  const written = await withInboxReader(options, context, async (inbox) => {
    let leads = 0;
    const { since, until } = resolveWindow(options, clock.now(), messages);
    const state = options.verdict === 'accepted' ? undefined : options.verdict;
    for await (const { body } of inbox.leads({ state, since, until })) {
      await writer.write([{ bytes: compact(body) }]);
      leads += 1;
    }
    return leads;
  });
  await writer.end();
  if (written !== undefined) messages.say(`${written} ${written === 1 ? 'lead' : 'leads'}`);
  return 'done';
}

const isoText = (ms: number): string => new Date(ms).toISOString();

const deliverySummary = (delivery: StoredDelivery) => ({
  number: delivery.seq,
  receivedAt: isoText(delivery.receivedAt),
  verdict: delivery.verdict,
  reason: delivery.reason ?? null,
  detail: delivery.detail ?? null,
  status: delivery.status,
  leadId: delivery.leadId ?? null,
  attempt: delivery.attempt,
  source: delivery.source,
  remote: delivery.remote,
  method: delivery.method,
  path: delivery.path,
  bytes: delivery.body.length,
  differs: delivery.differs ?? null,
});

/**
 * The same with headers and body, and the lead where it is only a part of the body; a body that is no text is in
 * `bodyBase64`. `forwards`: where the lead stands at its targets.
 */
function deliveryDetails(delivery: StoredDelivery, forwards: readonly Forward[]) {
  const body = Buffer.from(delivery.body);
  return {
    ...deliverySummary(delivery),
    forwards: forwards.map(({ target, state, tries, dueAt }) => ({
      ...{ target, state, tries },
      dueAt: dueAt === undefined ? null : isoText(dueAt),
    })),
    results: delivery.results.map(({ target, kind, ok, answer, durationMs, at: endedAt }) => ({
      ...{ target, kind, ok, answer, durationMs },
      at: isoText(endedAt),
    })),
    headers: delivery.headers,
    lead: delivery.place === undefined ? undefined : utf8(leadBytes(body, delivery.place)),
    body: isUtf8(body) ? body.toString('utf8') : undefined,
    bodyBase64: isUtf8(body) ? undefined : body.toString('base64'),
  };
}
