import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { checkExpectations } from '../../stats/expectations.ts';
import { type LeadCounts, mostText, mostValues } from '../../stats/lead-counts.ts';
import type { StatsOptions } from './command.ts';
import { countPulled, countReceived, planStats } from './count-leads.ts';
import { printChecked, printDocument, printTable, type Stats } from './print-stats.ts';

export async function run(options: StatsOptions, context: Context): Promise<Outcome> {
  rejectReceiptMeasures(options);
  const { clock, messages, globals } = context;
  const { format, inbox, expect } = options;
  const { dialect } = await context.settings();
  const plan = planStats(options, dialect, clock.now(), messages);
  const count = inbox === undefined ? countPulled : countReceived;
  const { leads, receipts } = await count(options, plan, context);
  const { since, until } = plan.filter;
  const isBounded = since !== undefined || until !== undefined;
  const series = leads.times.series(options.bucket, since, isBounded ? plan.end : undefined);
  const stats = { leads, receipts, window: { since, until }, series };
  noteUndated(stats, messages);
  noteFullFacets(leads, messages);
  const checked = expect && checkExpectations(expect, leads.total, receipts);
  if (format === 'json') await printDocument(stats, checked, context);
  else if (checked === undefined || !globals.quiet) await printTable(stats, plan.zone, context);
  if (checked === undefined) return 'done';
  printChecked(checked, messages);
  return checked.every(({ holds }) => holds) ? 'done' : 'problems';
}

function noteUndated({ leads: { undated }, series }: Stats, messages: Context['messages']): void {
  if (undated === 0) return;
  const undatedLeads = counted(undated, 'lead has', 'leads have');
  messages.note(
    'unreadable-time',
    `${undatedLeads} no createdAt that can be read: counted, but in no ${series.unit}`,
  );
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
