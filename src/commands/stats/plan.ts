import type { Dialect } from '../../config/dialect.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing/listing-types.ts';
import { statusFields } from '../../service/listing/page-census.ts';
import { type Facet, LeadCounts } from '../../stats/lead-counts.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { Bucket, Series } from '../../stats/time-buckets.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import type { StatsOptions } from './options.ts';

/** Half-open, in milliseconds since the epoch; undefined: without a bound. */
export interface Window {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

/** The counts to make; every time is resolved against the same moment. */
export interface StatsPlan {
  readonly window: Window;
  /** The window's end, or now where that is earlier; ms since the epoch. */
  readonly end: number;
  /** Of `--compare`: as long as the other one, and just before it. */
  readonly previous: { readonly since: number; readonly until: number } | undefined;
  /** Of both windows. */
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  /** Whether leads are chosen by more than their time. */
  readonly isNarrowed: boolean;
  readonly facets: readonly Facet[];
  /** `shiftMs`: as `LeadCounts` has it. */
  readonly newCounts: (shiftMs?: number) => LeadCounts;
  /** From the previous window to this one, in milliseconds. */
  readonly shiftMs: number;
}

export function planStats(
  options: StatsOptions,
  dialect: Dialect,
  now: number,
  messages: Pick<Messages, 'note'>,
): StatsPlan {
  const { query, filter } = resolveFilter(options, now, messages);
  const { since, until } = filter;
  const length = since === undefined ? 0 : Math.max(0, (until ?? now) - since);
  const previous =
    options.compare === undefined || since === undefined
      ? undefined
      : { since: since - length, until: since };
  const earliest = previous?.since ?? since;
  const facets: readonly Facet[] =
    options.by === undefined
      ? usualFacets(dialect)
      : options.by.map((path) => ({ key: path, title: path, paths: [path] }));
  return {
    window: { since, until },
    end: Math.min(until ?? now, now),
    previous,
    query: { ...query, since: earliest },
    filter: { ...filter, since: earliest },
    isNarrowed: filter.categories.length + filter.where.length > 0,
    facets,
    newCounts: (shiftMs) =>
      new LeadCounts(facets, options.by?.length === 2, options.bucket, shiftMs, options.zone),
    shiftMs: previous === undefined ? 0 : length,
  };
}

/** What is before the window belongs to the previous one; what has no time that can be read does not. */
export const isPrevious = ({ previous }: StatsPlan, time: number | undefined): boolean =>
  previous !== undefined && time !== undefined && time < previous.until;

const usualFacets = ({ statusField = 'auto' }: Dialect): Facet[] => [
  { key: 'status', title: 'STATUS', paths: statusField === 'auto' ? statusFields : [statusField] },
  { key: 'category', title: 'CATEGORY', paths: ['category'] },
  { key: 'source', title: 'SOURCE', paths: ['metadata.source'] },
];

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
