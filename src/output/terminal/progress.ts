import type { Clock } from '../../time/clock.ts';
import { formatDuration, formatSeconds } from '../../time/time-text.ts';
import type { StatusLine } from './status-line.ts';

/** A rate over less time tells too little for an estimate. */
const estimateAfterMs = 2000;

export interface Progress {
  /** `total` is the number that the service names, or the user's limit; undefined when neither is known. */
  update(leads: number, total: number | undefined): void;
  clear(): void;
}

/** Shows the progress of a walk in the status line. A resumed walk begins with the `earlierLeads` of the runs before. */
export function showProgress(status: StatusLine | undefined, clock: Clock, earlierLeads = 0): Progress {
  if (status === undefined) return { update: () => undefined, clear: () => undefined };
  const startedAt = clock.now();
  let leads = earlierLeads;
  let total: number | undefined;
  status.showProgress((now) => progressLine({ leads, earlierLeads, total, elapsedMs: now - startedAt }));
  return {
    update(leadsNow, totalNow) {
      leads = leadsNow;
      total = totalNow;
    },
    clear: () => status.showProgress(undefined),
  };
}

interface ProgressState {
  readonly leads: number;
  readonly earlierLeads: number;
  readonly total: number | undefined;
  readonly elapsedMs: number;
}

/** Returns a line such as `2,000 of 10,000 leads, 20%, 500/s, 4s, about 16s left`. */
export function progressLine({ leads, earlierLeads, total, elapsedMs }: ProgressState): string {
  const rate = ratePerSecond(leads - earlierLeads, elapsedMs);
  const parts = [`${grouped(leads)}${total === undefined ? '' : ` of ${grouped(total)}`} leads`];
  if (total !== undefined && total >= leads && total > 0) parts.push(`${Math.floor((leads / total) * 100)}%`);
  if (elapsedMs > 0) parts.push(`${grouped(Math.round(rate))}/s`, formatSeconds(elapsedMs));
  if (total !== undefined && total > leads && rate > 0 && elapsedMs >= estimateAfterMs) {
    parts.push(`about ${formatSeconds(((total - leads) * 1000) / rate)} left`);
  }
  return parts.join(', ');
}

const ratePerSecond = (leads: number, ms: number): number => (leads * 1000) / Math.max(ms, 1);

/** Writes 1234567 as `1,234,567`; Intl would add milliseconds to every start. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function counted(count: number, singular: string, plural: string): string {
  return `${grouped(count)} ${count === 1 ? singular : plural}`;
}

export interface WalkTotals {
  readonly leads: number;
  readonly earlierLeads: number;
  readonly durationMs: number;
  readonly retries: number;
  readonly duplicates: number;
  readonly withoutId: number;
  /** The change to an existing file, such as `replaced 251 leads`. */
  readonly publication?: string | undefined;
}

/** Summarizes a walk in one line. `destination` is a text such as ` to leads.ndjson`, or empty. */
export function summaryLine(totals: WalkTotals, destination = ''): string {
  const { leads, earlierLeads, durationMs } = totals;
  const newLeads = leads - earlierLeads;
  const rate = newLeads > 0 ? ` (${grouped(Math.round(ratePerSecond(newLeads, durationMs)))}/s)` : '';
  const parts = [
    `${counted(leads, 'lead', 'leads')}${destination} in ${formatDuration(durationMs)}${rate}`,
    counted(totals.retries, 'retry', 'retries'),
    `${counted(totals.duplicates, 'duplicate', 'duplicates')} dropped`,
  ];
  if (earlierLeads > 0) parts.push(`${grouped(earlierLeads)} of them from before`);
  if (totals.withoutId > 0) parts.push(`${grouped(totals.withoutId)} without id`);
  if (totals.publication !== undefined) parts.push(totals.publication);
  return parts.join(', ');
}
