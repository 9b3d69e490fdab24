import type { LeadFilter, LeadMatcher } from '../../lead/filter.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { listLeads } from '../../service/listing/listing.ts';
import type { Unproven } from '../../service/listing/evidence/completion.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import type { Service } from '../../service/client/service.ts';

/** Whether leads exist that were not selected: beyond the limit, or perhaps, where the service proves no end. */
export type Remainder = 'none' | 'more' | Unproven;

/** The largest page that is requested for a limit. */
const largestPage = 1000;

/**
 * The first `limit` leads that pass, page by page. Requests no page that is not needed. Where filters are checked here
 * and few records may pass, pages are as large as for an export.
 */
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
  const preferredSize = filtersHere || limit > largestPage ? undefined : limit;
  const ends: Unproven[] = [];
  const pages = listLeads(service, {
    query,
    preferredSize,
    prefetch: limit === Infinity,
    acceptUnproven: (end) => void ends.push(end),
  });
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
  const [unproven = 'none'] = ends;
  return left === 0 && ends.length > 0 ? 'more' : unproven;
}
