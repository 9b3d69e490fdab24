import type { Position } from './position.ts';
import type { PaginationHints } from './pagination-hints.ts';

/**
 * A next cursor or link that is null says that this was the last page, unless the same answer says plainly that there
 * is more: then it is a field that the service does not fill, and the walk goes by what it does fill.
 */
export class NullNext {
  readonly #filtered: boolean;
  /** The page that a resumed walk reads again: an earlier walk went on from it, whatever it says. */
  readonly #readAgain: number | undefined;
  #found = false;
  /** It was filled once: null is its own way to say that there is no more. */
  #filled = false;

  constructor(filtered: boolean, from: Position | undefined) {
    this.#filtered = filtered;
    this.#readAgain = from?.style === 'page' ? from.page - 1 : undefined;
  }

  /** Whether the null of this answer is such a field. Once found for a page, it holds for those behind it. */
  isUnused(position: Position, hints: PaginationHints, count: number, walked: number | undefined): boolean {
    if (hints.next) this.#filled = true;
    if (hints.next !== null || hints.hasMore === false) return false;
    if (hints.hasMore === true) return true;
    if (this.#filled || position.style === 'cursor' || position.style === 'url') return false;
    this.#found ||=
      (position.style === 'page' && position.page === this.#readAgain) ||
      this.#more(position, hints, count, walked);
    return this.#found;
  }

  #more(
    position: Position,
    { page, pages, offset, total }: PaginationHints,
    count: number,
    walked: number | undefined,
  ): boolean {
    const number = position.style === 'page' ? position.page : page;
    // Of pages that are counted from 0, the first is one page, too.
    if (pages !== undefined && (number !== undefined || position.style === 'start'))
      return (number || 1) < pages;
    if (total === undefined || count === 0) return false;
    const start = position.style === 'offset' ? position.offset : offset;
    if (start !== undefined) return start + count < total;
    // Of an answer without a page number it is unknown whether its total counts what a filter leaves out.
    if (walked === undefined || (number === undefined && this.#filtered)) return false;
    return Math.max(walked, count) < total;
  }
}
