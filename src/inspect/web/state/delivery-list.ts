import type { WirePage, WireRow } from '../../wire.ts';
import { type AnswerSource, isAbort, type Problem, problemOf } from '../api-client/problem.ts';
import { Observable } from './observable.ts';
import { keepNewest, type ListFilter, noFilter, queryOf, withPage } from './rows.ts';

export interface ListState {
  /** Newest first. */
  readonly rows: readonly WireRow[];
  /** What to ask for older ones with; null: these are all. */
  readonly next: number | null;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
  /** How many arrived that are not among `rows`, since the list is scrolled down or aimed at. */
  readonly unseen: number;
  /** There are more of them than that. */
  readonly hasMoreUnseen: boolean;
}

const pageSize = 100;

/** Of a list that nobody scrolls, while deliveries arrive for days. */
const mostRowsAtTop = 1_000;

/** Rows above what is seen that are read with it. */
const readAbove = 50;

const empty: ListState = {
  ...{ rows: [], next: null, isLoading: true, problem: null },
  ...{ unseen: 0, hasMoreUnseen: false },
};

/** The deliveries that match a filter, as far as they were scrolled to, with those that arrive. */
export class DeliveryList {
  readonly state = new Observable<ListState>(empty);
  /** Whether somebody aims at a row now: it must not move. */
  isAimedAt: () => boolean = () => false;
  readonly #api: AnswerSource;
  #filter: ListFilter = noFilter;
  #isAtTop = true;
  #reading = new AbortController();
  #isReading = false;
  /** Rows with other numbers were not read again since the inbox changed: from <= seq < before. */
  #fresh = { from: 0, before: Infinity };

  constructor(api: AnswerSource) {
    this.#api = api;
  }

  /** Shows other deliveries; those before stay until these are there. */
  async show(filter: ListFilter): Promise<void> {
    this.#filter = filter;
    this.#isAtTop = true;
    this.state.change({ isLoading: true });
    const isShown = await this.#read({ limit: pageSize }, (page) => {
      this.#fresh = { from: page.next ?? 0, before: Infinity };
      return { ...empty, ...page };
    });
    if (isShown) await this.#untilOneIsFound();
  }

  async loadOlder(): Promise<boolean> {
    const { next } = this.state.value;
    if (next === null || this.#isReading) return false;
    this.state.change({ isLoading: true });
    return this.#read({ before: next, limit: pageSize }, (page, { rows }) => {
      if ((rows.at(-1)?.seq ?? Infinity) >= this.#fresh.from) this.#fresh.from = page.next ?? 0;
      return { rows: [...rows, ...page.rows], next: page.next };
    });
  }

  /** A search ends its pages after a while, also where it has found nothing so far. */
  async #untilOneIsFound(): Promise<void> {
    while (this.state.value.rows.length === 0 && (await this.loadOlder()));
  }

  /** The inbox changed: reads again what is seen from that row on. Resolves to whether something arrived. */
  async refresh(firstSeen: number): Promise<boolean> {
    const { rows, unseen, isLoading } = this.state.value;
    const [newest] = rows;
    if (!this.#isHeld) await this.#readNewest(true);
    if (newest === undefined || !this.#isHeld) {
      const [now] = this.state.value.rows;
      return !isLoading && now !== undefined && now.seq > (newest?.seq ?? 0);
    }
    this.#fresh = { from: Infinity, before: Infinity };
    if (!(await this.#readFrom(Math.max(0, firstSeen - readAbove)))) return false;
    await this.#read({ after: newest.seq, limit: pageSize }, (page) => ({
      unseen: page.rows.length,
      hasMoreUnseen: page.next !== null,
    }));
    return this.state.value.unseen > unseen;
  }

  get #isHeld(): boolean {
    return this.state.value.rows.length > 0 && (!this.#isAtTop || this.isAimedAt());
  }

  showNewest(): Promise<void> {
    return this.#readNewest(false);
  }

  /** `unlessHeld`: nothing moves where somebody aims at a row by the time that it is read. */
  async #readNewest(unlessHeld: boolean): Promise<void> {
    const isShown = await this.#read({ limit: pageSize }, (page, state) => {
      if (unlessHeld && this.#isHeld) return {};
      this.#fresh = { from: page.next ?? 0, before: Infinity };
      const all = keepNewest(withPage(state, Infinity, page), mostRowsAtTop);
      return { ...all, unseen: 0, hasMoreUnseen: false };
    });
    if (isShown) await this.#untilOneIsFound();
  }

  async #readFrom(index: number): Promise<boolean> {
    const { rows } = this.state.value;
    const [above, from] = [rows[index - 1], rows[index]];
    if (from === undefined) return false;
    const before = from.seq + 1;
    return this.#read({ before, limit: pageSize }, (page, state) => {
      const isConnected = above !== undefined && this.#isFresh(above);
      this.#fresh = { from: page.next ?? 0, before: isConnected ? this.#fresh.before : before };
      return withPage(state, before, page);
    });
  }

  #isFresh = ({ seq }: WireRow): boolean => seq >= this.#fresh.from && seq < this.#fresh.before;

  /** These rows are drawn now: what of them may have changed is read again. */
  drawn(first: number, end: number): void {
    // What a search found may be far apart, and looking for it again costs as much as the first time.
    if (this.#isReading || this.#filter.text !== '') return;
    const stale = this.state.value.rows.slice(first, end).findIndex((row) => !this.#isFresh(row));
    if (stale !== -1) void this.#readFrom(stale === 0 ? Math.max(0, first - readAbove) : first + stale);
  }

  /** Nobody aims at a row any more: what arrived meanwhile is shown. */
  release(): void {
    if (this.state.value.unseen > 0 && !this.#isHeld) void this.#readNewest(true);
  }

  /** While it is scrolled down, arrivals are only counted. */
  setAtTop(isAtTop: boolean): void {
    if (isAtTop === this.#isAtTop) return;
    this.#isAtTop = isAtTop;
    if (isAtTop && this.state.value.unseen > 0) void this.showNewest();
  }

  /** Resolves to false where it failed, or another reading took its place. */
  async #read(
    query: Record<string, number>,
    merge: (page: WirePage, state: ListState) => Partial<ListState>,
  ): Promise<boolean> {
    this.#reading.abort();
    const { signal } = (this.#reading = new AbortController());
    this.#isReading = true;
    try {
      const page = await this.#api.get<WirePage>(`/api/deliveries?${queryOf(this.#filter, query)}`, signal);
      if (signal.aborted) return false;
      this.#isReading = false;
      this.state.change({ ...merge(page, this.state.value), isLoading: false, problem: null });
      return true;
    } catch (error) {
      if (isAbort(error) || signal.aborted) return false;
      this.#isReading = false;
      this.state.change({ isLoading: false, problem: problemOf(error) });
      return false;
    }
  }
}
