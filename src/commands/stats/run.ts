import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { leadMatcher } from '../../lead/filter.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import { counted, grouped, showProgress } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { checkExpectations } from '../../stats/expectations.ts';
import { LeadCounts, mostText, mostValues } from '../../stats/lead-counts.ts';
import { unprovenHandler } from '../flags/polling.ts';
import type { StatsOptions } from './command.ts';
import { planStats, type Stats, type StatsPlan, statsOf } from './plan.ts';
import { printChecked, printDocument, printTable } from './print-stats.ts';

export async function run(options: StatsOptions, context: Context): Promise<Outcome> {
  rejectReceiptMeasures(options);
  const { clock, messages, globals } = context;
  const { format, inbox, expect } = options;
  const { dialect } = await context.settings();
  const plan = planStats(options, dialect, clock.now(), messages);
  const count = inbox === undefined ? countPulled : (await import('./count-received.ts')).countReceived;
  const stats = await count(options, plan, context);
  noteFullFacets(stats.leads, messages);
  const checked = expect && checkExpectations(expect, stats.leads.total, stats.receipts);
  if (format === 'json') await printDocument(stats, checked, context);
  else if (checked === undefined || !globals.quiet) await printTable(stats, plan.zone, context);
  if (checked === undefined) return 'done';
  printChecked(checked, messages);
  return checked.every(({ holds }) => holds) ? 'done' : 'problems';
}

function noteFullFacets({ keysOfFullFacets }: LeadCounts, messages: Context['messages']): void {
  for (const key of keysOfFullFacets) {
    const bounds = `those that came after the first ${grouped(mostValues)}, or ${Math.floor(mostText / 1e6)} million characters, are counted as (other)`;
    messages.note(`full ${key}`, `'${key}' has too many different values to count each: ${bounds}`);
  }
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
  const matcher = leadMatcher(plan.filter);
  const leads = new LeadCounts(plan);
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
        if (matcher.matchesCreated(lead, time)) leads.add(lead, time);
      }
      progress.update(walk.stats.leads, walk.stats.total);
    }
  } finally {
    progress.clear();
  }
  noteFilters(matcher, messages);
  noteMissingFields('--by', leads.namedFields, messages);
  const stats = statsOf(plan, leads);
  const { undated } = leads;
  if (undated > 0) {
    const undatedLeads = counted(undated, 'lead has', 'leads have');
    messages.note(
      'unreadable-time',
      `${undatedLeads} no createdAt that can be read: counted, but in no ${stats.series.unit}`,
    );
  }
  return stats;
}
