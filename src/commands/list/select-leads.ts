import type { LeadFilter, LeadMatcher } from '../../lead/filter.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { listLeads } from '../../service/listing/listing.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import type { Service } from '../../service/client/service.ts';

/** Page size when filters are checked here and many records may not pass. */
const filteredPageSize = 100;

/** Whether leads exist that were not selected: beyond the limit, or missed because the list moved. */
export type Remainder = 'none' | 'more' | 'maybe-missing';

/** The first `limit` leads that pass, page by page. Requests no page that is not needed. */
export async function* selectLeads(
  service: Service,
  query: LeadQuery,
  filter: LeadFilter,
  { matches }: LeadMatcher,
  limit: number,
): AsyncGenerator<readonly RawLead[], Remainder, undefined> {
  const filtersHere =
    filter.categories.length + filter.where.length > 0 ||
    filter.since !== undefined ||
    filter.until !== undefined;
  const usualSize = filtersHere ? Math.max(limit, filteredPageSize) : limit;
  const pageSize = service.dialect.pageSize ?? (usualSize > 1000 ? undefined : usualSize);
  const pages = listLeads(service, { query, pageSize, prefetch: limit === Infinity });
  let left = limit;
  for await (const batch of pages) {
    const passing = batch.leads.filter(matches);
    if (passing.length > left) {
      yield passing.slice(0, left);
      return 'more';
    }
    left -= passing.length;
    yield passing;
    if (left === 0 && !batch.last) return 'more';
  }
  return 'none';
}
