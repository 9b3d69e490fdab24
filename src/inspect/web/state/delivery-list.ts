import type { WirePage, WireRow } from '../../wire.ts';
import { type AnswerSource, isAbort, type Problem, problemOf } from '../api-client/problem.ts';
import {
  isFiltered,
  keepNewest,
  type ListFilter,
  matches,
  noFilter,
  queryOf,
  withChanged,
  withNewer,
  withPage,
} from './rows.ts';
import { Observable } from './observable.ts';

export interface ListState {
  /** Newest first. */
  readonly rows: readonly WireRow[];
  /** What to ask for older ones with; null: these are all. */
  readonly next: number | null;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
  /** How many arrived that are not among `rows`: the list was scrolled down, aimed at or paused. */
  readonly unseen: number;
  /** How many arrivals were put at the top of `rows`, since these were read. */
  readonly inserted: number;
}

const pageSize = 100;

/** Of a list that nobody scrolls, while deliveries arrive for days. */
const mostRowsAtTop = 1_000;

/** Rows above what is seen that are read with it. */
const readAbove = 50;

const showEveryMs = 1_500;

const empty: ListState = { rows: [], next: null, isLoading: true, problem: null, unseen: 0, inserted: 0 };

/** The deliveries that match a filter, as far as they were scrolled to, with those that arrive. */
export class DeliveryList {
  readonly state = new Observable<ListState>(empty);
  /** Somebody paused it: nothing moves until they go on. */
  readonly isPaused = new Observable(false);
  /** Whether somebody aims at a row now: it must not move. */
  isAimedAt: () => boolean = () => false;
  readonly #api: AnswerSource;
  #filter: ListFilter = noFilter;
  #isAtTop = true;
  #loading = new AbortController();
  /** What arrived while the newest page is read, which may be without it. */
  #meanwhile: WireRow[] = [];
  /** Rows with a greater number were not read again since something was removed or changed unnoticed. */
  #staleAbove = Infinity;
  #soon: ReturnType<typeof setTimeout> | null = null;

  constructor(api: AnswerSource) {
    this.#api = api;
  }

  show(filter: ListFilter): Promise<void> {
    return this.#show(filter, () => false);
  }

  /** Unless `isHeld` then, once it is read. */
  async #show(filter: ListFilter, isHeld: () => boolean): Promise<void> {
    this.#filter = filter;
    this.#loading.abort();
    this.#isAtTop = true;
    this.#staleAbove = Infinity;
    this.#meanwhile = [];
    await this.#load(null, (page) =>
      isHeld() && this.state.value.rows.length > 0 ? {} : { ...empty, ...withNewer(page, this.#meanwhile) },
    );
  }

  async loadOlder(): Promise<void> {
    const { next, isLoading } = this.state.value;
    if (next === null || isLoading) return;
    await this.#load(next, (page, state) =>
      // The oldest rows may have been dropped meanwhile: this page does not follow on what is left.
      state.next === next ? { rows: [...state.rows, ...page.rows], next: page.next } : {},
    );
  }

  /** What is shown may have changed while nobody listened: reads again what is seen, and a little above it. */
  async refresh(firstSeen: number): Promise<void> {
    if (this.#isAtTop && !this.#isHeld) return this.#showUnlessHeld();
    const from = this.state.value.rows[Math.max(0, firstSeen - readAbove)];
    if (from === undefined) return;
    this.#staleAbove = from.seq;
    await this.#load(from.seq + 1, (page, state) => withPage(state, from.seq + 1, page));
  }

  /** The first row that is drawn now. */
  drawnFrom(index: number): void {
    const { isLoading, rows } = this.state.value;
    if (!isLoading && (rows[index]?.seq ?? 0) > this.#staleAbove) void this.refresh(index);
  }

  add(arrived: readonly WireRow[], skipped: number): void {
    const rows = arrived.filter((row) => matches(this.#filter, row));
    const { isLoading, unseen } = this.state.value;
    if (isLoading) this.#meanwhile.push(...rows);
    if (!this.#isAtTop || this.#isHeld || unseen > 0) {
      this.countUnseen(rows.length + skipped);
      if (!isLoading) this.release();
    } else if (skipped === 0) this.#insert(rows);
    else if (isFiltered(this.#filter)) this.#showSoon();
    else this.#begin(rows);
  }

  get #isHeld(): boolean {
    return this.isPaused.value || this.isAimedAt();
  }

  #showUnlessHeld(): Promise<void> {
    return this.#show(this.#filter, () => this.#isHeld);
  }

  showNewest(): Promise<void> {
    return this.show(this.#filter);
  }

  /** Nobody aims at a row any more, or nothing is paused: what arrived meanwhile is shown, unless something else holds it. */
  release(): void {
    if (this.#isAtTop && this.state.value.unseen > 0 && !this.#isHeld) void this.#showUnlessHeld();
  }

  countUnseen(count: number): void {
    if (count === 0) return;
    this.state.change({ unseen: this.state.value.unseen + count });
  }

  #insert(arrived: readonly WireRow[]): void {
    const { value: old } = this.state;
    const all = withNewer(old, arrived);
    const inserted = old.inserted + all.rows.length - old.rows.length;
    this.state.change({ ...keepNewest(all, mostRowsAtTop), inserted });
  }

  /** So much arrives that the newest of it is a list of its own; older ones are read when they are scrolled to. */
  #begin(arrived: readonly WireRow[]): void {
    this.#loading.abort();
    this.state.value = {
      ...empty,
      isLoading: false,
      rows: arrived.toReversed(),
      next: arrived[0]?.seq ?? null,
    };
  }

  /** Of what arrived and is not known, some may match; it is asked for now and then, not each time. */
  #showSoon(): void {
    if (this.#soon !== null) return;
    this.#soon = setTimeout(() => {
      this.#soon = null;
      if (this.#isAtTop && !this.#isHeld) void this.#showUnlessHeld();
    }, showEveryMs);
  }

  changed(rows: readonly WireRow[]): void {
    this.state.change(withChanged(this.state.value, rows));
  }

  /** While it is scrolled down, arrivals are only counted. */
  setAtTop(isAtTop: boolean): void {
    if (isAtTop === this.#isAtTop) return;
    this.#isAtTop = isAtTop;
    const isBehind = this.state.value.unseen > 0 || this.#staleAbove !== Infinity;
    if (isAtTop && isBehind) void this.show(this.#filter);
  }

  async #load(
    before: number | null,
    merge: (page: WirePage, state: ListState) => Partial<ListState>,
  ): Promise<void> {
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    this.state.change({ isLoading: true, problem: null });
    const query = queryOf(this.#filter, { before, limit: pageSize });
    try {
      const page = await this.#api.get<WirePage>(`/api/deliveries?${query}`, signal);
      if (signal.aborted) return;
      this.state.change({ ...merge(page, this.state.value), isLoading: false });
    } catch (error) {
      if (!isAbort(error)) this.state.change({ isLoading: false, problem: problemOf(error) });
    }
  }
}
