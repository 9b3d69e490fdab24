import type { Service } from '../client/service.ts';
import { requestParamsOf } from '../pagination/request-params.ts';
import { type Completion, IncompleteError } from './incomplete-error.ts';
import { LeadPages } from './lead-pages.ts';
import type { Batch, Listing, ListingOptions, ListingStats } from './listing-types.ts';
import { walk } from './walk.ts';

export type { Batch, Listing, ListingOptions, ListingStats } from './listing-types.ts';

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
    completion = yield* pagesOf(service, options, stats);
    if (completion.kind === 'complete') return;
    if (options.acceptUnproven === undefined) throw new IncompleteError(completion);
    await options.acceptUnproven(completion);
  }
  return {
    stats,
    get completion() {
      return completion;
    },
    [Symbol.asyncIterator]: iterate,
  };
}

/** The walk behind `listLeads`: aborts what is in flight when it ends, however it ends. */
async function* pagesOf(
  service: Service,
  options: ListingOptions,
  stats: ListingStats,
): AsyncGenerator<Batch, Completion, undefined> {
  const stop = new AbortController();
  const params = requestParamsOf(service.account.baseUrl, service.dialect);
  const signal = AbortSignal.any([service.signal, stop.signal]);
  try {
    const isStillThere = (ids: readonly string[]): Promise<boolean> => isListed(service, options, ids);
    const pages = new LeadPages(service, params, options, stats, signal, isStillThere);
    return yield* walk(pages, pages.probes, pages.before, service);
  } finally {
    stop.abort(new DOMException('the walk has ended', 'AbortError'));
  }
}

/** Whether the service lists one of these leads where it is not asked for a status or a category. */
async function isListed(
  service: Service,
  { query: { since, until }, pageSize }: ListingOptions,
  ids: readonly string[],
): Promise<boolean> {
  const wanted = new Set<string | undefined>(ids);
  const acceptUnproven = (): void => undefined;
  for await (const { leads } of listLeads(service, { query: { since, until }, pageSize, acceptUnproven }))
    if (leads.some(({ id }) => wanted.has(id))) return true;
  return false;
}
