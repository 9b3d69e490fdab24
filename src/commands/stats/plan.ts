import type { Dialect } from '../../config/dialect.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { statusFields } from '../../service/pagers/names.ts';
import { type Facet, LeadCounts } from '../../stats/lead-counts.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { Series } from '../../stats/time-series.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import type { StatsOptions } from './command.ts';

export interface StatsPlan {
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  /** Whether leads are chosen by more than their time. */
  readonly isNarrowed: boolean;
  /** The end of the window, or now where that is earlier; ms since the epoch. */
  readonly end: number;
  readonly facets: readonly Facet[];
  readonly leads: LeadCounts;
}

export function planStats(
  options: StatsOptions,
  dialect: Dialect,
  now: number,
  messages: Pick<Messages, 'note'>,
): StatsPlan {
  const { query, filter } = resolveFilter(options, now, messages);
  const facets =
    options.by?.map((path) => ({ key: path, title: path, paths: [path] })) ?? usualFacets(dialect);
  return {
    query,
    filter,
    isNarrowed: filter.categories.length + filter.where.length > 0,
    end: Math.min(filter.until ?? now, now),
    facets,
    leads: new LeadCounts(facets, options.zone),
  };
}

const usualFacets = ({ statusField = 'auto' }: Dialect): readonly Facet[] => [
  { key: 'status', title: 'STATUS', paths: statusField === 'auto' ? statusFields : [statusField] },
  { key: 'category', title: 'CATEGORY', paths: ['category'] },
  { key: 'source', title: 'SOURCE', paths: ['metadata.source'] },
];

export interface Stats {
  /** Half-open, in milliseconds since the epoch. */
  readonly window: Pick<LeadFilter, 'since' | 'until'>;
  readonly leads: LeadCounts;
  readonly series: Series;
  readonly receipts: ReceiptFigures | undefined;
}

export function statsOf(
  { filter: { since, until }, end, leads }: StatsPlan,
  { bucket }: Pick<StatsOptions, 'bucket'>,
  receipts?: ReceiptFigures,
): Stats {
  // Without a bound, the series ends with its last lead.
  const isUnbounded = since === undefined && until === undefined;
  const series = leads.times.series(bucket, since, isUnbounded ? undefined : end);
  return { window: { since, until }, leads, series, receipts };
}
