import type { Service } from '../client/service.ts';
import { type Completion, IncompleteError } from './evidence/completion.ts';
import { paginate } from './paginator.ts';
import type { Batch, Listing, ListingOptions, ListingStats } from './types.ts';

export type { Batch, Listing, ListingOptions, ListingStats } from './types.ts';

/**
 * Every lead that the service lists for a query, page by page, each id once. Leaving the loop early aborts what is in
 * flight. Throws `IncompleteError` at the end of a walk that is not proven complete, unless `acceptUnproven` takes it;
 * also `KeyRefusedError`, `ServiceError`, `DataError` (not JSON, no leads array, a position that was read before).
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
    total: undefined,
  };
  let completion: Completion | undefined;
  async function* iterate(): AsyncGenerator<Batch, void, undefined> {
    completion = yield* paginate(service, options, stats);
    if (completion.kind === 'complete') return;
    if (options.acceptUnproven === undefined) throw new IncompleteError(completion);
    options.acceptUnproven(completion);
  }
  return {
    stats,
    get completion() {
      return completion;
    },
    [Symbol.asyncIterator]: iterate,
  };
}
