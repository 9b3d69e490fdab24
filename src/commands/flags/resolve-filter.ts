import type { LeadFilter } from '../../lead/filter.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import type { FilterOptions } from './filter-flags.ts';

/** What is asked of the service and what is checked here, both with times resolved against one `now`. */
export function resolveFilter(
  options: FilterOptions,
  now: number,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  const since = options.since?.(now);
  const until = options.until?.(now);
  return {
    query: { status: options.status, categories: options.category, since, until },
    filter: { categories: options.category, since, until, where: options.where },
  };
}
