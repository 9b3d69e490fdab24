import type { RequestParams } from '../../pagination/request-params.ts';
import { networkFailure } from '../../client/failure.ts';
import { request } from '../../client/request.ts';
import { Attempts, TransientError } from '../../client/retry.ts';
import type { Service } from '../../client/service.ts';
import type { PagePart } from './page-part.ts';
import { partsOf } from './read-parts.ts';

/** Counted while a page is fetched, since a caller may show it meanwhile. */
export interface RequestCounters {
  requests: number;
  retries: number;
}

/**
 * One page with all its retries. Only a page beyond 2 MiB comes in several parts. Throws like `request`, and a
 * `ServiceError` when every attempt failed.
 */
export async function* fetchPage(
  service: Service,
  params: RequestParams,
  url: URL,
  counters: RequestCounters,
  signal: AbortSignal,
): AsyncGenerator<PagePart, void, undefined> {
  const attempts = new Attempts(service, () => (counters.retries += 1));
  let handedOut = 0;
  for (;;) {
    try {
      counters.requests += 1;
      const answer = await request(service, url, signal);
      const again = handedOut > 0;
      let count = 0;
      for await (const part of partsOf(answer, params, attempts)) {
        const known = Math.max(0, handedOut - count);
        count += part.leads.length;
        handedOut = Math.max(handedOut, count);
        // What has no id cannot be recognised: its place on the page has to do.
        const leads = again
          ? part.leads.filter((lead, i) => i >= known || lead.id !== undefined)
          : part.leads;
        yield { leads, again, facts: part.facts };
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = networkFailure(error, url.origin);
      if (!(failure instanceof TransientError)) throw failure;
      await attempts.next(failure, signal);
    }
  }
}
