import type { Messages } from './messages.ts';
import { formatDuration } from '../time/duration.ts';
import { counted, grouped } from './terminal/progress.ts';

export interface WalkTotals {
  readonly leads: number;
  /** How many of them an earlier attempt wrote. */
  readonly before: number;
  readonly durationMs: number;
  readonly retries: number;
  readonly duplicates: number;
  readonly withoutId: number;
  readonly restarts: number;
  /** What became of the file that was there, such as `replaced 251 leads`. */
  readonly publication?: string | undefined;
}

/** What a walk did, in one line. `destination` is where the leads went, such as ` to leads.ndjson`, or nothing. */
export function summaryLine(totals: WalkTotals, destination = ''): string {
  const { leads, before, durationMs } = totals;
  const rate = grouped(Math.round(((leads - before) * 1000) / Math.max(durationMs, 1)));
  const parts = [
    `${counted(leads, 'lead', 'leads')}${destination} in ${formatDuration(durationMs)} (${rate}/s)`,
    counted(totals.retries, 'retry', 'retries'),
    `${counted(totals.duplicates, 'duplicate', 'duplicates')} dropped`,
  ];
  if (before > 0) parts.push(`${grouped(before)} of them from before`);
  if (totals.withoutId > 0) parts.push(`${grouped(totals.withoutId)} without id`);
  if (totals.restarts > 0) parts.push(`walked again ${counted(totals.restarts, 'time', 'times')}`);
  if (totals.publication !== undefined) parts.push(totals.publication);
  return parts.join(', ');
}

/** Says once in a run how many leads were kept although `--since` or `--until` could not be checked. */
export function noteUnreadableTimes(leads: number, messages: Pick<Messages, 'note'>): void {
  if (leads === 0) return;
  const kept = counted(leads, 'lead was kept whose', 'leads were kept whose');
  const age = leads === 1 ? 'its age is unknown' : 'their age is unknown';
  messages.note('unreadable-time', `${kept} createdAt is missing or no ISO 8601 time, so ${age}`);
}
