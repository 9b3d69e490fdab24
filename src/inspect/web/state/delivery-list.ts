import type { WirePage, WireRow } from '../../wire.ts';
import { type ListFilter, noFilter, requestQuery } from './address.ts';
import { Problem } from './problem.ts';

const pageSize = 100;

interface ListOptions {
  readonly api: { readonly get: <Answer>(path: string, signal: AbortSignal) => Promise<Answer> };
  /** Whether a person may be about to press a row: then no row may move. */
  readonly mustRowsStay: () => boolean;
  readonly onChange: () => void;
}

/**
 * The page of deliveries that is shown. A person moves from page to page with `show`, `showOlder` and `showNewer`; `refresh` follows
 * the inbox. While the rows must stay where they are, a refresh rereads them in place, and deliveries that no row shows are only
 * counted, in `unseen`. `next` is the `before` of the next page, null on the last one; `#pageStarts` are those of the second page
 * to the one that is shown.
 */
export class DeliveryList {
  rows: readonly WireRow[] = [];
  next: number | null = null;
  isLoading = true;
  problem: Problem | null = null;
  unseen = 0;
  hasMoreUnseen = false;
  readonly #options: ListOptions;
  #filter: ListFilter = noFilter;
  #pageStarts: readonly number[] = [];
  #newestSeen = 0;
  #reading = new AbortController();

  constructor(options: ListOptions) {
    this.#options = options;
  }

  show(filter: ListFilter, delayMs = 0): Promise<boolean> {
    this.#filter = filter;
    return this.#open([], delayMs);
  }

  async showOlder(): Promise<boolean> {
    return this.next !== null && !this.isLoading && this.#open([...this.#pageStarts, this.next]);
  }

  showNewer(): Promise<boolean> {
    return this.#open(this.#pageStarts.slice(0, -1));
  }

  get hasNewer(): boolean {
    return this.#pageStarts.length > 0;
  }

  get canShowUnseen(): boolean {
    return this.unseen > 0 && !this.#areRowsHeld();
  }

  /** Rereads the page after the inbox changed. Resolves to whether it shows the present state. */
  async refresh(): Promise<boolean> {
    // A search that restarted at every arrival would never end.
    if (this.isLoading) return false;
    const [first] = this.rows;
    if (first === undefined || !this.#areRowsHeld()) return this.#read(null, { isRefresh: true });
    const start = this.#pageStarts.at(-1) ?? first.seq + 1;
    if (!(await this.#read(start, { isRefresh: true }))) return false;
    return this.#replaceReading(async (signal) => {
      const arrivals = await this.#page({ after: this.#newestSeen, limit: pageSize }, signal);
      this.unseen = arrivals.rows.length;
      this.hasMoreUnseen = arrivals.next !== null;
      this.#options.onChange();
      return true;
    });
  }

  #areRowsHeld(): boolean {
    return this.rows.length > 0 && (this.hasNewer || this.#options.mustRowsStay());
  }

  #open(starts: readonly number[], delayMs = 0): Promise<boolean> {
    this.#pageStarts = starts;
    this.isLoading = true;
    this.problem = null;
    this.#options.onChange();
    return this.#read(starts.at(-1) ?? null, { delayMs });
  }

  /**
   * Reads the page that begins at `before`, or at the newest delivery (null). The rows of a search appear as they are found. A
   * refresh replaces all rows at once, and none if that would move rows that have to stay by then.
   */
  #read(before: number | null, { isRefresh = false, delayMs = 0 }): Promise<boolean> {
    return this.#replaceReading(async (signal) => {
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      let rows: readonly WireRow[] = [];
      let next = before;
      let isLoading = true;
      while (isLoading) {
        const page = await this.#page({ before: next, limit: pageSize - rows.length }, signal);
        rows = [...rows, ...page.rows];
        next = page.next;
        isLoading = next !== null && rows.length < pageSize;
        if (isRefresh && before === null && this.#areRowsHeld()) return false;
        if (isRefresh && isLoading) continue;
        this.rows = rows;
        this.next = next;
        this.isLoading = isLoading;
        this.problem = null;
        if (before === null) {
          this.#newestSeen = rows[0]?.seq ?? 0;
          this.unseen = 0;
        }
        this.#options.onChange();
      }
      return true;
    });
  }

  #page(query: Readonly<Record<string, number | null>>, signal: AbortSignal): Promise<WirePage> {
    signal.throwIfAborted();
    const { api } = this.#options;
    return api.get<WirePage>(`/api/deliveries?${requestQuery(this.#filter, query)}`, signal).then((page) => {
      signal.throwIfAborted();
      return page;
    });
  }

  /** Ends the previous reading. Resolves to false where the new one failed, or was replaced by another. */
  async #replaceReading(read: (signal: AbortSignal) => Promise<boolean>): Promise<boolean> {
    this.#reading.abort();
    const { signal } = (this.#reading = new AbortController());
    try {
      return await read(signal);
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof Problem)) throw error;
      this.isLoading = false;
      this.problem = error;
      this.#options.onChange();
      return false;
    }
  }
}
