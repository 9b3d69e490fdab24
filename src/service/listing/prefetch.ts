import type { PagePart } from './fetch-page.ts';
import type { Position } from '../pagination/position.ts';

type Pages = AsyncGenerator<PagePart, void, undefined>;

/** Pages that were asked for before they are needed; they arrive at once and are used in order. */
export class Prefetch {
  readonly #open: (at: Position) => Pages;
  readonly #underway = new Map<
    string,
    { readonly pages: Pages; readonly first: Promise<IteratorResult<PagePart, void>> }
  >();

  constructor(open: (at: Position) => Pages) {
    this.#open = open;
  }

  get size(): number {
    return this.#underway.size;
  }

  /** Asks for a page, unless it is underway. Its failure shows only when it is taken. */
  ask(at: Position): void {
    const key = keyOf(at);
    if (this.#underway.has(key)) return;
    const pages = this.#open(at);
    const first = pages.next();
    first.catch(() => undefined);
    this.#underway.set(key, { pages, first });
  }

  /** The parts of the page at this position. What was asked for and lies before it is of no use any more. */
  async *take(at: Position): Pages {
    this.ask(at);
    const key = keyOf(at);
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

  /** Forgets what is underway; who asked aborts the requests. */
  clear(): void {
    this.#underway.clear();
  }
}

/** Pages are the same when they begin in the same place, whatever is known of the record before them. */
export function keyOf(at: Position): string {
  switch (at.style) {
    case 'start':
      return 'start';
    case 'url':
      return `url ${at.url}`;
    case 'cursor':
      return `cursor ${at.cursor}`;
    case 'page':
      return `page ${at.page}`;
    case 'offset':
      return `offset ${at.offset}`;
  }
}

/**
 * Where the pages after `next` will begin if the list goes on as it did: known for page and offset styles only. Stops
 * at the total, where there is one.
 */
export function predict(next: Position, step: number, total: number | undefined, many: number): Position[] {
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
