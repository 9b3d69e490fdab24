import type { Context, Outcome } from '../../context.ts';
import { parseLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { FieldPresence, leadFilter } from '../../lead/filter.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { writeJson } from '../../output/stdout.ts';
import { grouped, showProgress } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { checkExpectations } from '../../stats/expectations.ts';
import { FieldValues } from '../../stats/lead-counts.ts';
import { mostValues } from '../../stats/value-counts.ts';
import { unprovenHandler } from '../flags/polling.ts';
import { noteFilters, noteMissingFields } from '../../output/filter-notes.ts';
import { sayChecked } from './figure-text.ts';
import { countsReceived, rejectContradictions, type StatsOptions } from './options.ts';
import { type CountedWindow, countedWindow, planStats, type StatsPlan } from './plan.ts';

export async function run(options: StatsOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const { clock, messages } = context;
  const { dialect } = await context.settings();
  const plan = planStats(options, dialect, clock.now(), messages);
  const counted = await countWindow(options, plan, context);
  const { leads, receipts } = counted;
  const checked = options.expect && checkExpectations(options.expect, leads.total, receipts);
  noteBounds(counted, context);
  const isAlarm = checked !== undefined && context.globals.quiet && options.format === 'table';
  if (!isAlarm) await print(options, counted, checked, context);
  sayChecked(checked ?? [], messages);
  return checked?.every(({ holds }) => holds) === false ? 'problems' : 'done';
}

const countWindow = async (
  options: StatsOptions,
  plan: ReturnType<typeof planStats>,
  context: Context,
): Promise<CountedWindow> => {
  if (!countsReceived(options)) return countPulled(options, plan, context);
  const { countReceived } = await import('./count-received.ts');
  return countReceived(options, plan, context);
};

async function print(
  options: StatsOptions,
  counted: CountedWindow,
  checked: ReturnType<typeof checkExpectations> | undefined,
  context: Context,
): Promise<void> {
  const { stdout } = context;
  const terminal = stdout.isTTY === true;
  const { format, top } = options;
  if (format === 'table') {
    const { printTable } = await import('./print-table.ts');
    await printTable(counted, top ?? 10, options.zone ?? 'UTC', context);
  } else if (format === 'json') {
    const { statsDocument } = await import('./print-data.ts');
    await writeJson(stdout, statsDocument(counted, checked, top ?? Infinity), 2);
  } else {
    const { figureColumns, statsRows } = await import('./print-data.ts');
    const writer = await recordWriter('csv', streamSink(stdout), { columns: figureColumns, terminal });
    const rows = statsRows(counted, top ?? Infinity);
    await writer.write(rows.map((row) => ({ bytes: Buffer.from(JSON.stringify(row)) })));
    await writer.end();
  }
}

/** Says where memory was bounded at the cost of detail. */
function noteBounds(
  { leads, receipts, series }: CountedWindow,
  { messages }: Pick<Context, 'messages'>,
): void {
  for (const key of leads.fullFacets) {
    messages.note(
      `full ${key}`,
      `'${key}' has too many different values to count each: those that came after the first ` +
        `${grouped(mostValues)}, or 16 MiB, are counted as (other)`,
    );
  }
  if (leads.matrix?.isFull === true) {
    messages.note(
      'full-matrix',
      'the matrix has too many different pairs to count each: later ones are (other)',
    );
  }
  if (leads.buckets.isLengthened) {
    messages.note(
      'longer-buckets',
      `the leads are spread over too long a time: they are counted by the ${series.unit}`,
    );
  }
  if (receipts === undefined && leads.undated > 0) {
    const { undated } = leads;
    const what = undated === 1 ? '1 lead has' : `${grouped(undated)} leads have`;
    messages.note(
      'unreadable-time',
      `${what} no createdAt that can be read: counted, but in no ${series.unit}`,
    );
  }
}

/** Counts the leads of the service, by when they were created. Throws an `IncompleteError` where the walk proves no end. */
async function countPulled(options: StatsOptions, plan: StatsPlan, context: Context): Promise<CountedWindow> {
  const { messages, clock, status } = context;
  const service = await openService(context);
  const matcher = leadFilter(plan.filter);
  const fields = new FieldPresence(options.by ?? []);
  const values = new FieldValues(plan.facets);
  const leads = plan.newCounts();
  const walk = listLeads(service, {
    query: plan.query,
    prefetch: true,
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages),
  });
  const progress = showProgress(status, clock);
  try {
    for await (const batch of walk) {
      for (const lead of batch.leads) {
        const time = readCreatedAt(lead.createdAt);
        if (!matcher.matchesCreated(lead, time)) continue;
        if (fields.searching) fields.look(parseLead(lead));
        leads.add(values.ofBytes(lead), time);
      }
      progress.update(walk.stats.leads, walk.stats.total);
    }
  } finally {
    progress.clear();
  }
  noteFilters(matcher, messages);
  noteMissingFields('--by', fields, messages);
  return countedWindow(plan, { leads, receipts: undefined });
}
