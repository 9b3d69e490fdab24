import type { LeadsError } from '../errors.ts';
import { isOverload } from './client/network-failure.ts';
import type { PageParts } from './fetch-page.ts';
import type { ListingOptions } from './listing-types.ts';
import type { PageRequest } from './pagers/pager.ts';
import { positionKey, start } from './pagers/position.ts';
import type { RequestParams } from './pagers/request-params.ts';

const keyOf = ({ position, limit }: PageRequest): string => `${positionKey(position)} ${limit ?? ''}`;

/** Pages that were requested before they are needed; they arrive at once and are used in order. */
export class Prefetch {
  readonly #open: (request: PageRequest) => PageParts;
  readonly #underway = new Map<
    string,
    { readonly parts: PageParts; readonly first: ReturnType<PageParts['next']> }
  >();
  readonly #early = new Set<string>();

  constructor(open: (request: PageRequest) => PageParts) {
    this.#open = open;
  }

  /** Requests a page, unless that was done. Its failure shows only when it is read. */
  request(request: PageRequest, isEarly = false): void {
    const key = keyOf(request);
    if (this.#underway.has(key)) return;
    const parts = this.#open(request);
    const first = parts.next();
    first.catch(() => undefined);
    this.#underway.set(key, { parts, first });
    if (isEarly) this.#early.add(key);
  }

  /** Whether a page may be older than the one before it. */
  isEarly(request: PageRequest): boolean {
    return this.#early.has(keyOf(request));
  }

  async *read(request: PageRequest): PageParts {
    this.request(request);
    const key = keyOf(request);
    const page = this.#underway.get(key);
    this.#underway.delete(key);
    if (page === undefined) return;
    try {
      for (let part = await page.first; part.done !== true; part = await page.parts.next()) yield part.value;
    } finally {
      await page.parts.return();
    }
  }

  clear(): void {
    this.#underway.clear();
    this.#early.clear();
  }
}

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

  fallBack(error: LeadsError): boolean {
    const isForSize = [400, 413, 414, 416, 422].includes(error.status ?? 0) || isOverload(error);
    if (!this.mayShrink || !isForSize) return false;
    this.#candidates = this.#candidates.slice(1);
    return true;
  }

  /** Whether the first page is to be read without a size: it was empty with one, which may have been a filter. */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}
