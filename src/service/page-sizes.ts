import type { LeadsError } from '../errors.ts';
import { isOverload } from './client/network-failure.ts';
import type { ListingOptions } from './listing-types.ts';
import { start } from './pagers/position.ts';
import type { RequestParams } from './pagers/request-params.ts';

/** The sizes that are sent when the user named none, the next one when the service rejects one; undefined: its default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

export class PageSizes {
  #candidates: readonly (number | undefined)[];
  readonly #isGuess: boolean;

  /** A size that the user or the dialect names is not changed, and neither is that of a walk which is resumed. */
  constructor(
    { limit, pageSize: dialectSize, isLimitGuessed }: RequestParams,
    { from = start, pageSize, preferredSize, readsOnce }: ListingOptions,
  ) {
    const fixed = pageSize ?? dialectSize ?? from.size;
    const isFree = fixed === undefined && limit !== undefined && from.style === 'start' && readsOnce !== true;
    const smaller = usualSizes.filter((size = 0) => size < (preferredSize ?? Infinity));
    const free = preferredSize === undefined ? smaller : [preferredSize, ...smaller];
    this.#candidates = isFree ? free : [fixed];
    this.#isGuess = isLimitGuessed;
  }

  get current(): number | undefined {
    return this.#candidates[0];
  }

  get mayShrink(): boolean {
    return this.#candidates.length > 1;
  }

  /** Takes the next size if an error may come from the size of the page; returns whether it did. */
  fallBack(error: LeadsError): boolean {
    const isForSize = [400, 413, 414, 416, 422].includes(error.status ?? 0) || isOverload(error);
    if (!this.mayShrink || !isForSize) return false;
    this.#candidates = this.#candidates.slice(1);
    return true;
  }

  /**
   * Gives up a size whose parameter is guessed when the first page was empty: the service may have taken it for a filter.
   * Returns whether the page must be read once more.
   */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}
