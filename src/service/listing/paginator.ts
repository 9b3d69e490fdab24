import type { Service } from '../client/service.ts';
import { requestParamsOf } from '../pagination/request-params.ts';
import type { Completion } from './evidence/completion.ts';
import type { Batch, ListingOptions, ListingStats } from './types.ts';
import { Walker } from './walker.ts';

/** The walk behind `listLeads`: aborts what is in flight when it ends, however it ends. */
export async function* paginate(
  service: Service,
  options: ListingOptions,
  stats: ListingStats,
): AsyncGenerator<Batch, Completion, undefined> {
  const stop = new AbortController();
  const params = requestParamsOf(service.account.baseUrl, service.dialect);
  try {
    return yield* new Walker(
      service,
      params,
      options,
      stats,
      AbortSignal.any([service.signal, stop.signal]),
    ).run();
  } finally {
    stop.abort(new DOMException('the walk has ended', 'AbortError'));
  }
}
