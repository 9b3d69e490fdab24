import { positionKey, type Position } from '../pagination/position.ts';
import type { PagePart } from './fetch-page.ts';
import type { ListingOptions } from './listing-types.ts';

type Pages = AsyncGenerator<PagePart, void, undefined>;

/** Pages that were requested before they are needed; they arrive at once and are used in order. */
export class Prefetch {
  readonly #open: (position: Position) => Pages;
  readonly #underway = new Map<
    string,
    { readonly pages: Pages; readonly first: Promise<IteratorResult<PagePart, void>> }
  >();

  /** Pages that were requested before the page in front of them was read. */
  readonly #early = new Set<string>();

  constructor(open: (position: Position) => Pages) {
    this.#open = open;
  }

  /** Requests a page, unless that was done. Its failure shows only when it is taken. */
  request(position: Position): void {
    const key = positionKey(position);
    if (this.#underway.has(key)) return;
    const pages = this.#open(position);
    const first = pages.next();
    first.catch(() => undefined);
    this.#underway.set(key, { pages, first });
  }

  /** Requests what saves time: the next page, and those behind it whose places can be computed. */
  requestAhead(
    next: Position,
    count: number,
    total: number | undefined,
    { concurrency = 1, prefetch }: Pick<ListingOptions, 'concurrency' | 'prefetch'>,
  ): void {
    if (prefetch === true || concurrency > 1) this.request(next);
    if (concurrency < 2) return;
    const step = next.style === 'offset' && next.after !== undefined ? count - 1 : count;
    for (const position of predict(next, step, total, concurrency - 1)) {
      this.request(position);
      this.#early.add(positionKey(position));
    }
  }

  /** Whether a page may be older than the one in front of it. */
  isEarly(position: Position): boolean {
    return this.#early.has(positionKey(position));
  }

  /** Whether it is: then it is forgotten, and so is what is underway. */
  dropEarly(position: Position): boolean {
    const isEarly = this.isEarly(position);
    if (isEarly) this.clear();
    return isEarly;
  }

  /** The parts of the page at this position. */
  async *take(position: Position): Pages {
    this.request(position);
    const key = positionKey(position);
    const taken = this.#underway.get(key);
    this.#underway.delete(key);
    if (taken === undefined) return;
    try {
      for (let part = await taken.first; part.done !== true; part = await taken.pages.next())
        yield part.value;
    } finally {
      await taken.pages.return();
    }
  }

  /** Forgets what is underway; the caller aborts the requests. */
  clear(): void {
    this.#underway.clear();
    this.#early.clear();
  }
}

/**
 * Where the pages after `next` will begin if the list goes on as it did: known for page and offset styles only. Stops
 * at the total, where there is one.
 */
function predict(next: Position, step: number, total: number | undefined, many: number): Position[] {
  const positions: Position[] = [];
  for (let i = 1; i <= many; i += 1) {
    if (next.style === 'page') {
      if (total !== undefined && (next.page + i - 1) * step >= total) break;
      positions.push({ style: 'page', param: next.param, page: next.page + i });
    } else if (next.style === 'offset') {
      const offset = next.offset + i * step;
      if (step < 1 || (total !== undefined && offset >= total)) break;
      positions.push({ style: 'offset', param: next.param, offset });
    }
  }
  return positions;
}
