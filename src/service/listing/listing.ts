import type { Service } from '../client/service.ts';
import { paginate } from './paginator.ts';
import type { Listing, ListingOptions, ListingStats } from './types.ts';

export type { Batch, Listing, ListingOptions, ListingStats } from './types.ts';

/**
 * Every lead that the service lists for a query, page by page, each id once. Leaving the loop early aborts what is in
 * flight. Throws `KeyRefusedError`, `ServiceError`, `DataError` (not JSON, no leads array, a walk that makes no progress).
 */
export function listLeads(service: Service, options: ListingOptions): Listing {
  const stats: ListingStats = {
    requests: 0,
    retries: 0,
    pages: 0,
    leads: 0,
    duplicates: 0,
    withoutId: 0,
    restarts: 0,
    shifted: false,
    total: undefined,
  };
  return { stats, [Symbol.asyncIterator]: () => paginate(service, options, stats) };
}
