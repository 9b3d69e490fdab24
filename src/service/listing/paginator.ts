import { setFlagsFromString } from 'node:v8';
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
  // The young generation would grow to 48 MB with what dies at once anyway, page after page: a third of the memory of
  // a long walk, for a twentieth of its time.
  setFlagsFromString('--semi-space-growth-factor=1');
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
