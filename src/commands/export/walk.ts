import type { RawLead } from '../../lead/raw-lead.ts';
import type { Progress } from '../../output/terminal/progress.ts';
import { outliveOutages } from '../../service/client/retry.ts';
import { IncompleteError } from '../../service/listing/completion.ts';
import { type Batch, type Listing, listLeads } from '../../service/listing/listing.ts';
import type { Position } from '../../service/pagination/position.ts';
import { isComplete, isCtrlC, unprovenHandler } from '../flags/polling.ts';
import { noteFilters, noteMissingFields } from '../flags/resolve-filter.ts';
import type { Counts } from './checkpoint.ts';
import { type ExportContext, type ExportPlan, latest } from './plan.ts';

/** Where the leads of a walk go. */
export interface RecordSink {
  write(leads: readonly RawLead[]): Promise<void>;
  /** A page is complete; the next one begins at `next`, undefined after the last. */
  pageEnd(next: Position | undefined, counts: Counts): Promise<void>;
}

export interface Totals extends Counts {
  restarts: number;
}

/** Takes the leads of one walk to its end, or to `--limit`; adds to `totals` as it goes. */
export async function transfer(
  plan: ExportPlan,
  from: Position | undefined,
  sink: RecordSink,
  totals: Totals,
  { messages }: Pick<ExportContext, 'messages'>,
  progress: Progress,
): Promise<void> {
  const { options, window } = plan;
  const { limit } = options;
  if (limit !== undefined && totals.leads >= limit) return;
  const walk = listLeads(plan.service, {
    query: plan.query,
    pageSize: options.pageSize,
    from,
    seen: plan.seen,
    concurrency: options.concurrency,
    prefetch: limit === undefined,
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages, options.bookmark !== undefined),
  });
  const totalsBefore = { ...totals };
  /** Where the page began that is being read. */
  let here: Position = from ?? { style: 'start' };
  try {
    for await (const batch of walk) {
      let leads = batch.leads.filter(plan.passes);
      if (limit !== undefined) leads = leads.slice(0, limit - totals.leads);
      await sink.write(leads);
      totals.leads += leads.length;
      if (window !== undefined) for (const lead of leads) window.remember(lead);
      addStatistics(walk, totalsBefore, totals);
      if (limit !== undefined && totals.leads >= limit) break;
      if (batch.next !== undefined || batch.last) await sink.pageEnd(batch.next, totals);
      if (options.concurrency !== undefined && options.concurrency > 1)
        noteUselessConcurrency(batch, messages);
      if (batch.next !== undefined) here = batch.next;
      progress.update(totals.leads, limit ?? walk.stats.total);
    }
  } catch (error) {
    // A later run with --resume begins with the page that proved nothing.
    if (error instanceof IncompleteError) await sink.pageEnd(here, totals);
    throw error;
  }
  addStatistics(walk, totalsBefore, totals);
  noteFilters(plan.matcher, messages);
  noteMissingFields('--fields', plan.fields, messages);
}

function addStatistics({ stats }: Listing, before: Totals, totals: Totals): void {
  totals.retries = before.retries + stats.retries;
  totals.duplicates = before.duplicates + stats.duplicates;
  totals.withoutId = before.withoutId + stats.withoutId;
  totals.restarts = before.restarts + stats.restarts;
}

function noteUselessConcurrency({ next }: Batch, messages: ExportContext['messages']): void {
  if (next === undefined || next.style === 'page' || next.style === 'offset') return;
  messages.note(
    'concurrency',
    '--concurrency has no effect: this service names the next page only in the page before it',
  );
}

interface PollSteps {
  walk(plan: ExportPlan): Promise<void>;
  /** After each complete poll. */
  pollEnd(): Promise<void>;
}

/** The first walk of a run that polls is repeated until the service is there; of another run it is one attempt. */
export async function firstWalk(
  { options: { follow } }: ExportPlan,
  context: ExportContext,
  walk: () => Promise<void>,
): Promise<void> {
  if (follow === undefined) await walk();
  else await outliveOutages(walk, { every: follow, hasWorked: false }, context);
}

/**
 * Polls until Ctrl-C, which is the ordinary end, or `--limit`. Every poll reaches back by the overlap; ids that were seen
 * before are not written again.
 */
export async function pollUntilInterrupted(
  plan: ExportPlan,
  context: ExportContext,
  totals: Totals,
  steps: PollSteps,
): Promise<void> {
  const { follow = 0, limit } = plan.options;
  const { clock, signal, messages } = context;
  const wait = { ms: follow, why: 'the next poll', isExpected: true };
  const poll = async (): Promise<void> => {
    plan.seen.nextPass();
    plan.window?.beginWalk(clock.now());
    const query = { ...plan.query, since: latest(plan.query.since, plan.window?.pollSince) };
    if (await isComplete(() => steps.walk({ ...plan, query }), context)) plan.window?.completeWalk();
  };
  try {
    while (limit === undefined || totals.leads < limit) {
      await messages.waiting(wait, () => clock.sleep(follow, signal));
      await outliveOutages(poll, { every: follow, hasWorked: true }, context);
      await steps.pollEnd();
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
  }
}
