import type { LeadFilter, LeadMatcher } from '../../lead/filter.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { listLeads } from '../../service/listing/listing.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import type { Service } from '../../service/client/service.ts';

/** Asked for at once when filters are checked here and many records may not pass. */
const filteredPage = 100;

/** Whether leads exist that were not handed out: beyond the limit, or passed over by a list that moved. */
export type Rest = 'none' | 'more' | 'maybe-missing';

/** The first `limit` leads that pass, page by page. Asks for no page that is not needed. */
export async function* selectLeads(
  service: Service,
  query: LeadQuery,
  filter: LeadFilter,
  { matches }: LeadMatcher,
  limit: number,
): AsyncGenerator<readonly RawLead[], Rest, undefined> {
  const narrows =
    filter.categories.length + filter.where.length > 0 ||
    filter.since !== undefined ||
    filter.until !== undefined;
  const wanted = narrows ? Math.max(limit, filteredPage) : limit;
  const pageSize = service.dialect.pageSize ?? (wanted > 1000 ? undefined : wanted);
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
