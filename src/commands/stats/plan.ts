import type { Dialect } from '../../config/dialect.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { statusFields } from '../../service/pagers/names.ts';
import type { Facet } from '../../stats/field-values.ts';
import type { LeadCounts, LeadGrouping } from '../../stats/lead-counts.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { BucketUnit, Series } from '../../stats/time-series.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import type { StatsOptions } from './command.ts';

export interface StatsPlan extends LeadGrouping {
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  /** Whether the filter has to see fields of leads, and not only their time. */
  readonly needsFields: boolean;
  /** The end of the window, or now where that is earlier; ms since the epoch. */
  readonly end: number;
  readonly bucket: BucketUnit | undefined;
}

export function planStats(
  options: StatsOptions,
  dialect: Dialect,
  now: number,
  messages: Pick<Messages, 'note'>,
): StatsPlan {
  const { by, bucket, zone = 'UTC' } = options;
  const { query, filter } = resolveFilter(options, now, messages);
  return {
    query,
    filter,
    needsFields: filter.categories.length + filter.where.length > 0,
    end: Math.min(filter.until ?? now, now),
    facets: by?.map((path) => ({ key: path, title: path, paths: [path] })) ?? usualFacets(dialect),
    namedFacets: by ?? [],
    bucket,
    zone,
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
  { filter: { since, until }, end, bucket }: StatsPlan,
  leads: LeadCounts,
  receipts?: ReceiptFigures,
): Stats {
  const isBounded = since !== undefined || until !== undefined;
  const endOfSeries = isBounded ? end : undefined;
  const series = leads.times.series(bucket, since, endOfSeries);
  return { window: { since, until }, leads, series, receipts };
}
