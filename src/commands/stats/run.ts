import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { FieldPresence, leadFilter } from '../../lead/filter.ts';
import { parseLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import { writeJson } from '../../output/stdout.ts';
import { counted, grouped, showProgress } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { checkExpectations } from '../../stats/expectations.ts';
import { FieldValues } from '../../stats/lead-counts.ts';
import { mostText, mostValues } from '../../stats/value-counts.ts';
import { unprovenHandler } from '../flags/polling.ts';
import type { StatsOptions } from './command.ts';
import { planStats, type Stats, type StatsPlan, statsOf } from './plan.ts';

export async function run(options: StatsOptions, context: Context): Promise<Outcome> {
  rejectReceiptMeasures(options);
  const { clock, messages, stdout, globals } = context;
  const { format, inbox, expect } = options;
  const { dialect } = await context.settings();
  const plan = planStats(options, dialect, clock.now(), messages);
  const count = inbox === undefined ? countPulled : (await import('./count-received.ts')).countReceived;
  const stats = await count(options, plan, context);
  const { leads } = stats;
  for (const key of leads.fullFacets) {
    const bounds = `those that came after the first ${grouped(mostValues)}, or ${Math.floor(mostText / 1e6)} million characters, are counted as (other)`;
    messages.note(`full ${key}`, `'${key}' has too many different values to count each: ${bounds}`);
  }
  const checked = expect && checkExpectations(expect, leads.total, stats.receipts);
  if (format === 'json') {
    const { statsDocument } = await import('./document.ts');
    await writeJson(stdout, statsDocument(stats, checked), 2);
  } else if (checked === undefined || !globals.quiet) {
    const { printTable } = await import('./print-table.ts');
    await printTable(stats, options.zone ?? 'UTC', context);
  }
  if (checked === undefined) return 'done';
  const { printChecked } = await import('./print-table.ts');
  printChecked(checked, messages);
  return checked.every(({ holds }) => holds) ? 'done' : 'problems';
}

/** Throws a `UsageError` for a measure of deliveries where leads are pulled. */
function rejectReceiptMeasures({ expect = [], inbox }: StatsOptions): void {
  const expectation = expect.find(({ measure }) => measure !== 'total');
  if (inbox !== undefined || expectation === undefined) return;
  throw new UsageError(`--expect: '${expectation.text}' is about what was received: it needs --inbox`, {
    hint: 'of leads that are pulled, only their total is known',
  });
}

/** Counts the leads of the service by when they were created. Throws an `IncompleteError` where the walk proves no end. */
async function countPulled(options: StatsOptions, plan: StatsPlan, context: Context): Promise<Stats> {
  const { messages, clock, status } = context;
  const service = await openService(context);
  const matcher = leadFilter(plan.filter);
  const fields = new FieldPresence(options.by ?? []);
  const values = new FieldValues(plan.facets);
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
        plan.leads.add(values.ofBytes(lead), time);
      }
      progress.update(walk.stats.leads, walk.stats.total);
    }
  } finally {
    progress.clear();
  }
  noteFilters(matcher, messages);
  noteMissingFields('--by', fields, messages);
  const stats = statsOf(plan, options);
  const { undated } = plan.leads;
  if (undated > 0) {
    const undatedLeads = counted(undated, 'lead has', 'leads have');
    messages.note(
      'unreadable-time',
      `${undatedLeads} no createdAt that can be read: counted, but in no ${stats.series.unit}`,
    );
  }
  return stats;
}
