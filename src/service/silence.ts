import { DataError } from '../errors.ts';
import type { Asking } from './asking.ts';
import type { PageFacts } from './fetch-page.ts';
import type { Position } from './position.ts';

const usualLimits = [10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000];

/** Whether a page of `count` may have been cut at a limit: the one that was asked for, or a usual one below it. */
export function looksFull(count: number, asked: number | undefined): boolean {
  return (
    count > 0 && (asked === undefined || count <= asked) && (count === asked || usualLimits.includes(count))
  );
}

/**
 * Where a service says that there are more leads and not how to get them: the next page is asked for by number, and
 * if that brings the same leads again, by offset.
 */
export class Probe {
  #tried: 'nothing' | 'page' | 'offset' = 'nothing';

  /** Neither number nor offset brought anything new. */
  failed = false;

  next(asking: Asking, at: Position, facts: PageFacts, walked: number | undefined): Position | undefined {
    const { lastId: after, count } = facts;
    if (asking.pagination !== 'auto' || walked === undefined || count === 0) return undefined;
    if (this.#tried === 'nothing' && at.style === 'start') {
      this.#tried = 'page';
      return { style: 'page', param: asking.page, page: asking.firstPage + 1, after };
    }
    if (this.#tried === 'page' && walked === count) {
      this.#tried = 'offset';
      return { style: 'offset', param: asking.offset, offset: count };
    }
    this.failed = this.#tried !== 'nothing' && walked === count;
    return undefined;
  }
}

export function noWayPast(walked: number, total: number | undefined): DataError {
  return new DataError(
    `the service has ${total ?? 'more'} leads, and its answers show no way past the first ${walked}`,
    { hint: "say how it pages: 'leads config set api.pagination page' (or offset, cursor, link)" },
  );
}
