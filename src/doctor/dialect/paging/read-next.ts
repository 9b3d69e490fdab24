import { hintsOf, nextPageOf, type NextPage } from '../../../service/pagination/next-page.ts';
import { NullNext } from '../../../service/pagination/null-next.ts';
import type { PaginationHints } from '../../../service/pagination/pagination-hints.ts';
import type { RequestParams } from '../../../service/pagination/request-params.ts';
import type { SeenPage } from '../seen-page.ts';

export interface ReadNext {
  readonly hints: PaginationHints;
  readonly next: NextPage;
}

/** What a page from the front of the list says itself of the page behind it; undefined where it was not read whole. */
export function readNext(params: RequestParams, { facts, count }: SeenPage): ReadNext | undefined {
  if (facts === undefined) return undefined;
  const hints = hintsOf(params, facts);
  const unfilled = new NullNext(false, undefined);
  const context = { met: count, isFull: true };
  const next = nextPageOf(
    { ...params, pagination: 'auto' },
    { style: 'start' },
    facts,
    hints,
    unfilled,
    context,
  );
  return { hints, next };
}
