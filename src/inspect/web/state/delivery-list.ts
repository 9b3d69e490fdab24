import type { WirePage, WireRow } from '../../wire.ts';
import { type ListFilter, noFilter, requestQuery } from './address.ts';
import { Problem } from './problem.ts';

const pageSize = 100;

interface ListOptions {
  readonly api: { readonly get: <Answer>(path: string, signal: AbortSignal) => Promise<Answer> };
  /** A person may be about to press a row now, so no row may move. */
  readonly isAimedAt: () => boolean;
  readonly onChange: () => void;
}

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

  get canRelease(): boolean {
    return this.unseen > 0 && !this.#isHeld();
  }

  /** Rereads the page after the inbox changed. Resolves to whether it shows the present state. */
  async refresh(): Promise<boolean> {
    // A search that restarted at every arrival would never end.
    if (this.isLoading) return false;
    const [first] = this.rows;
    if (first === undefined || !this.#isHeld()) return this.#read({ isHeld: false });
    if (!(await this.#read({ isHeld: true, before: this.#pageStarts.at(-1) ?? first.seq + 1 }))) return false;
    return this.#replaceReading(async (signal) => {
      const arrivals = await this.#page({ after: this.#newestSeen, limit: pageSize }, signal);
      this.unseen = arrivals.rows.length;
      this.hasMoreUnseen = arrivals.next !== null;
      this.#options.onChange();
      return true;
    });
  }

  #isHeld(): boolean {
    return this.rows.length > 0 && (this.hasNewer || this.#options.isAimedAt());
  }

  #open(starts: readonly number[], delayMs = 0): Promise<boolean> {
    this.#pageStarts = starts;
    this.isLoading = true;
    this.problem = null;
    this.#options.onChange();
    return this.#read({ before: starts.at(-1), delayMs });
  }

  /** `isHeld: false` keeps the old rows if they may no longer move when the new ones arrive; absent when a person asked for others. */
  #read(options: { isHeld?: boolean; before?: number | undefined; delayMs?: number }): Promise<boolean> {
    const { isHeld, before = null, delayMs = 0 } = options;
    return this.#replaceReading(async (signal) => {
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      let rows: readonly WireRow[] = [];
      let next: number | null = before;
      do {
        const page = await this.#page({ before: next, limit: pageSize - rows.length }, signal);
        rows = [...rows, ...page.rows];
        next = page.next;
        const isLoading = next !== null && rows.length < pageSize;
        if (isHeld === false && this.#isHeld()) return false;
        if (isLoading && isHeld !== undefined) continue;
        this.rows = rows;
        this.next = next;
        this.isLoading = isLoading;
        this.problem = null;
        if (before === null) {
          this.#newestSeen = rows[0]?.seq ?? 0;
          this.unseen = 0;
        }
        this.#options.onChange();
      } while (next !== null && rows.length < pageSize);
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

  /** Ends the previous reading. Resolves to false where it failed, or another reading replaced it. */
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
