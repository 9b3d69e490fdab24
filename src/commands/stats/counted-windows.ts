import type { LeadCounts } from '../../stats/lead-counts.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { Bucket, Series } from '../../stats/time-buckets.ts';
import type { StatsPlan, Window } from './stats-plan.ts';

/** What was counted in one window. */
export interface CountedWindow {
  readonly window: Window;
  readonly leads: LeadCounts;
  readonly series: Series;
  /** With `--inbox`. */
  readonly receipts: ReceiptFigures | undefined;
}

export interface CountedWindows {
  readonly current: CountedWindow;
  readonly previous: CountedWindow | undefined;
  /** Of the current window, in order. */
  readonly buckets: readonly ComparedBucket[];
}

interface ComparedBucket extends Bucket {
  /** In the same part of the window before. */
  readonly before: number | undefined;
}

/** The counts of the window and of the one before it, with series in one unit. */
export function countedWindows(
  plan: StatsPlan,
  current: Pick<CountedWindow, 'leads' | 'receipts'>,
  previous: Pick<CountedWindow, 'leads' | 'receipts'>,
): CountedWindows {
  const { since, until } = plan.window;
  // Without a bound, a window ends with the last lead that it has.
  const end = since === undefined && until === undefined ? undefined : plan.end;
  const natural = current.leads.buckets.series(since, end);
  if (plan.previous === undefined) {
    const buckets = natural.buckets.map((bucket) => ({ ...bucket, before: undefined }));
    return { current: { ...current, window: plan.window, series: natural }, previous: undefined, buckets };
  }
  const { unit } = previous.leads.buckets.series(plan.previous.since, plan.previous.until, natural.unit);
  const shifted = previous.leads.shifted.series(since, end, unit);
  const series = current.leads.buckets.series(since, end, shifted.unit);
  const before = previous.leads.buckets.series(plan.previous.since, plan.previous.until, shifted.unit);
  return {
    current: { ...current, window: plan.window, series },
    previous: { ...previous, window: plan.previous, series: before },
    buckets: compared(series, shifted),
  };
}

/** The previous window may have leads in buckets that lie in the future of the current one. */
function compared(series: Series, shifted: Series): readonly ComparedBucket[] {
  const countsOf = ({ buckets }: Series) => new Map(buckets.map(({ start, count }) => [start, count]));
  const [now, before] = [countsOf(series), countsOf(shifted)];
  const counted = shifted.buckets.filter(({ count }) => count > 0).map(({ start }) => start);
  return [...new Set([...now.keys(), ...counted])]
    .sort((a, b) => a - b)
    .map((start) => ({ start, count: now.get(start) ?? 0, before: before.get(start) ?? 0 }));
}
