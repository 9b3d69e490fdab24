import { DataError } from '../../errors.ts';
import { keyOf } from '../listing/prefetch.ts';
import type { RequestParams } from './request-params.ts';
import type { PageFacts } from '../listing/fetch-page.ts';
import type { Position } from './position.ts';

const usualLimits = [10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000];

/** Whether a page of `count` may have been cut at a limit: the one that was asked for, or a usual one below it. */
export function looksFull(count: number, asked: number | undefined): boolean {
  return (
    count > 0 && (asked === undefined || count <= asked) && (count === asked || usualLimits.includes(count))
  );
}

/**
 * Where a service shows no way on although there are more leads, or may be: the next page is asked for by number, and
 * by offset, until one brings other leads. A record without an id cannot show that it is another one.
 */
export class PaginationProbe {
  /** Of the page that is to be gone on from. */
  count = 0;
  total: number | undefined;
  #left: Position[] | undefined;
  #asked: Position | undefined;

  /** Undefined unless this is the first page of a service whose dialect is to be found out. */
  begin(
    asking: RequestParams,
    at: Position,
    facts: PageFacts,
    total: number | undefined,
  ): Position | undefined {
    const { count, lastId: after } = facts;
    if (this.#left !== undefined || asking.pagination !== 'auto') return undefined;
    if (at.style !== 'start' || after === undefined) return undefined;
    const { url, firstPage } = asking;
    const page = (number: number): Position => ({ style: 'page', param: asking.page, page: number, after });
    const offset: Position = { style: 'offset', param: asking.offset, offset: count };
    this.count = count;
    this.total = total;
    if (url.searchParams.has(asking.page)) this.#left = [page(firstPage + 1), offset];
    else if (url.searchParams.has(asking.offset)) this.#left = [offset];
    // Where the first page has the number 0, number 1 is the second one.
    else this.#left = [page(firstPage), page(firstPage + 1), offset];
    return this.next();
  }

  /** The next one to try, after one that was in vain. */
  next(): Position | undefined {
    return (this.#asked = this.#left?.shift());
  }

  isAt(at: Position): boolean {
    return this.#asked !== undefined && keyOf(at) === keyOf(this.#asked);
  }
}

export function noWayPast(walked: number, total: number): DataError {
  return new DataError(
    `the service has ${total} leads, and its answers show no way past the first ${walked}`,
    { hint: "say how it pages: 'leads config set api.pagination page' (or offset, cursor, link)" },
  );
}
