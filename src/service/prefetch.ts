import type { PageParts } from './fetch-page.ts';
import type { PageRequest } from './pagers/pager.ts';
import { positionKey } from './pagers/position.ts';

/**
 * Requests pages before they are needed: their answers arrive side by side, and are read in the order of the list. A page is named
 * by its position and size.
 * - `#unread`: the pages that were requested and not read yet, each with the first part, which is on its way
 * - `#early`: the pages that were requested before the page before them was read; they stay until `clear`
 */
export class Prefetch {
  readonly #open: (request: PageRequest) => PageParts;
  readonly #unread = new Map<
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
    if (this.#unread.has(key)) return;
    const parts = this.#open(request);
    const first = parts.next();
    first.catch(() => undefined);
    this.#unread.set(key, { parts, first });
    if (isEarly) this.#early.add(key);
  }

  /** Whether the page was requested before the page before it was read: the list may have moved between both answers. */
  isEarly(request: PageRequest): boolean {
    return this.#early.has(keyOf(request));
  }

  /** Reads a page, and requests it first where that was not done. */
  async *read(request: PageRequest): PageParts {
    this.request(request);
    const key = keyOf(request);
    const page = this.#unread.get(key);
    this.#unread.delete(key);
    if (page === undefined) return;
    try {
      for (let part = await page.first; part.done !== true; part = await page.parts.next()) yield part.value;
    } finally {
      await page.parts.return();
    }
  }

  /** Forgets all pages: a page that is read from now on is requested once more. */
  clear(): void {
    this.#unread.clear();
    this.#early.clear();
  }
}

const keyOf = ({ position, limit }: PageRequest): string => `${positionKey(position)} ${limit ?? ''}`;
