import type { PageFacts } from './page-facts.ts';
import { keyOf, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

const usualLimits = [10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000];

/** Whether a page of `count` may have been cut at a limit: the page size that was sent, or a usual one below it. */
export function looksFull(count: number, pageSize: number | undefined): boolean {
  return (
    count > 0 &&
    (pageSize === undefined || count <= pageSize) &&
    (count === pageSize || usualLimits.includes(count))
  );
}

/**
 * Where a service names no next page although there are more leads, or may be: the next page is requested by number, and
 * by offset, until one brings other leads. A record without an id cannot show that it is another one.
 */
export class PaginationProbe {
  /** Records on the page that named no next one. */
  count = 0;
  total: number | undefined;
  #left: Position[] | undefined;
  #current: Position | undefined;

  /** Undefined unless this is the first page of a service whose pagination is not known. */
  start(
    params: RequestParams,
    position: Position,
    facts: PageFacts,
    total: number | undefined,
  ): Position | undefined {
    const { count, lastId: after } = facts;
    if (this.#left !== undefined || params.pagination !== 'auto') return undefined;
    if (position.style !== 'start' || after === undefined) return undefined;
    const { url, firstPage } = params;
    const page = (number: number): Position => ({ style: 'page', param: params.page, page: number, after });
    const offset: Position = { style: 'offset', param: params.offset, offset: count };
    this.count = count;
    this.total = total;
    if (url.searchParams.has(params.page)) this.#left = [page(firstPage + 1), offset];
    else if (url.searchParams.has(params.offset)) this.#left = [offset];
    // Where the first page has the number 0, number 1 is the second one.
    else this.#left = [page(firstPage), page(firstPage + 1), offset];
    return this.next();
  }

  /** The next one to try, after one that brought nothing. */
  next(): Position | undefined {
    return (this.#current = this.#left?.shift());
  }

  isProbe(position: Position): boolean {
    return this.#current !== undefined && keyOf(position) === keyOf(this.#current);
  }
}
