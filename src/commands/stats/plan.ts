import type { Dialect } from '../../config/dialect.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { statusFields } from '../../service/status-fields.ts';
import { type Facet, LeadCounts } from '../../stats/lead-counts.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { Series } from '../../stats/time-buckets.ts';
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
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  /** Whether leads are chosen by more than their time. */
  readonly isNarrowed: boolean;
  readonly facets: readonly Facet[];
  readonly newCounts: () => LeadCounts;
}

export function planStats(
  options: StatsOptions,
  dialect: Dialect,
  now: number,
  messages: Pick<Messages, 'note'>,
): StatsPlan {
  const { query, filter } = resolveFilter(options, now, messages);
  const { since, until } = filter;
  const facets: readonly Facet[] =
    options.by === undefined
      ? usualFacets(dialect)
      : options.by.map((path) => ({ key: path, title: path, paths: [path] }));
  return {
    window: { since, until },
    end: Math.min(until ?? now, now),
    query,
    filter,
    isNarrowed: filter.categories.length + filter.where.length > 0,
    facets,
    newCounts: () => new LeadCounts(facets, options.by?.length === 2, options.bucket, options.zone),
  };
}

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

export function countedWindow(
  { window, end }: StatsPlan,
  counts: Pick<CountedWindow, 'leads' | 'receipts'>,
): CountedWindow {
  const { since, until } = window;
  // Without a bound, a window ends with the last lead that it has.
  const isUnbounded = since === undefined && until === undefined;
  const series = counts.leads.buckets.series(since, isUnbounded ? undefined : end);
  return { ...counts, window, series };
}
