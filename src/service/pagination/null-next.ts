import type { Position } from './position.ts';
import type { PaginationHints } from './pagination-hints.ts';

/**
 * A next cursor or link that is null says that this was the last page, unless the same answer says plainly that there
 * is more: then it is a field that the service does not fill, and the walk goes by what it does fill.
 */
export class NullNext {
  readonly #filtered: boolean;
  /** The page that a resumed walk reads again: it was gone on from before, whatever it says. */
  readonly #passed: number | undefined;
  #found = false;
  /** It was filled once: null is its own way to say that there is no more. */
  #filled = false;

  constructor(filtered: boolean, from: Position | undefined) {
    this.#filtered = filtered;
    this.#passed = from?.style === 'page' ? from.page - 1 : undefined;
  }

  /** Once found out for a page, it holds for those behind it. */
  isAt(at: Position, signals: PaginationHints, count: number, walked: number | undefined): boolean {
    if (signals.next) this.#filled = true;
    if (signals.next !== null || signals.hasMore === false) return false;
    if (signals.hasMore === true) return true;
    if (this.#filled || at.style === 'cursor' || at.style === 'url') return false;
    this.#found ||=
      (at.style === 'page' && at.page === this.#passed) || this.#more(at, signals, count, walked);
    return this.#found;
  }

  #more(
    at: Position,
    { page, pages, offset, total }: PaginationHints,
    count: number,
    walked: number | undefined,
  ): boolean {
    const number = at.style === 'page' ? at.page : page;
    // Of pages that are counted from 0, the first is one page, too.
    if (pages !== undefined && (number !== undefined || at.style === 'start')) return (number || 1) < pages;
    if (total === undefined || count === 0) return false;
    const start = at.style === 'offset' ? at.offset : offset;
    if (start !== undefined) return start + count < total;
    // Of an answer without a page number it is unknown whether its total counts what a filter leaves out.
    if (walked === undefined || (number === undefined && this.#filtered)) return false;
    return Math.max(walked, count) < total;
  }
}
