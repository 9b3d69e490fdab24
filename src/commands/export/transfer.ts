import type { RawLead } from '../../lead/raw-lead.ts';
import { type Batch, type Listing, listLeads } from '../../service/listing/listing.ts';
import type { Position } from '../../service/pagination/position.ts';
import type { Progress } from '../../output/progress.ts';
import { noteUnreadableTimes } from '../../output/summary.ts';
import type { Counts } from './checkpoint.ts';
import type { ExportPlan, Wiring } from './plan.ts';

/** Where the leads of a walk go. */
export interface Drain {
  write(leads: readonly RawLead[]): Promise<void>;
  /** A page is complete; the next one begins at `next`, undefined after the last. */
  pageEnd(next: Position | undefined, counts: Counts): Promise<void>;
}

export interface Totals extends Counts {
  restarts: number;
  shifted: boolean;
}

/** Takes the leads of one walk to its end, or to `--max`; adds to `totals` as it goes. */
export async function transfer(
  job: ExportPlan,
  from: Position | undefined,
  drain: Drain,
  totals: Totals,
  { messages }: Pick<Wiring, 'messages'>,
  progress: Progress,
): Promise<void> {
  const { options, window } = job;
  const { max } = options;
  if (max !== undefined && totals.leads >= max) return;
  const walk = listLeads(job.service, {
    query: job.query,
    pageSize: options.pageSize,
    from,
    seen: job.seen,
    concurrency: options.concurrency,
    prefetch: max === undefined,
  });
  const before = { ...totals };
  for await (const batch of walk) {
    let leads = batch.leads.filter(job.passes);
    if (max !== undefined) leads = leads.slice(0, max - totals.leads);
    await drain.write(leads);
    totals.leads += leads.length;
    if (window !== undefined) for (const lead of leads) window.note(lead);
    count(walk, before, totals);
    if (max !== undefined && totals.leads >= max) break;
    if (batch.next !== undefined || batch.last) await drain.pageEnd(batch.next, totals);
    if (options.concurrency !== undefined && options.concurrency > 1) sayWhenInVain(batch, messages);
    progress.update(totals.leads, max ?? walk.stats.total);
  }
  count(walk, before, totals);
  noteUnreadableTimes(job.unreadableTimes(), messages);
}

function count({ stats }: Listing, before: Totals, totals: Totals): void {
  totals.retries = before.retries + stats.retries;
  totals.duplicates = before.duplicates + stats.duplicates;
  totals.withoutId = before.withoutId + stats.withoutId;
  totals.restarts = before.restarts + stats.restarts;
}

function sayWhenInVain({ next }: Batch, messages: Wiring['messages']): void {
  if (next === undefined || next.style === 'page' || next.style === 'offset') return;
  messages.note(
    'concurrency',
    '--concurrency has no effect: each page of this service tells where the next one begins',
  );
}
