import type { WirePage, WireRow } from '../../wire.ts';
import type { Api } from '../server/api.ts';
import { isAbort, type Problem, problemOf } from '../server/problem.ts';
import { type ListFilter, matches, noFilter, queryOf } from './list-filter.ts';
import { keepNewest, withChanged, withNewer, withPage } from './merge-rows.ts';
import { Observable } from './observable.ts';

export interface ListState {
  /** Newest first. */
  readonly rows: readonly WireRow[];
  /** What to ask for older ones with; null: these are all. */
  readonly next: number | null;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
  /** How many arrived above what is seen, while the list is scrolled down. */
  readonly unseen: number;
  /** How many arrivals were put at the top of `rows`, since these were read. */
  readonly inserted: number;
}

const pageSize = 100;

/** Of a list that nobody scrolls, while deliveries arrive for days. */
const mostRowsAtTop = 1_000;

/** Read again with those that are seen, so that a short way up shows what is there. */
const rowsAboveSeen = 40;

const empty: ListState = { rows: [], next: null, isLoading: true, problem: null, unseen: 0, inserted: 0 };

/** What happened while a page was read, which the page may not have. */
class Meanwhile {
  readonly arrived: WireRow[] = [];
  readonly changed: WireRow[] = [];
  isOutdated = false;
}

/** The deliveries that match a filter, as far as they were scrolled to, with those that arrive. */
export class DeliveryList {
  readonly state = new Observable<ListState>(empty);
  readonly #api: Api;
  #filter: ListFilter = noFilter;
  #isAtTop = true;
  #loading = new AbortController();
  #meanwhile = new Meanwhile();
  /** Rows above what is seen may be of deliveries that are not there any more. */
  #isStaleAbove = false;

  constructor(api: Api) {
    this.#api = api;
  }

  async show(filter: ListFilter): Promise<void> {
    this.#filter = filter;
    this.#loading.abort();
    this.#isAtTop = true;
    this.#isStaleAbove = false;
    this.state.change({ isLoading: false });
    await this.#load(null, (page, _, { arrived }) => ({ ...empty, ...withNewer(page, arrived) }));
  }

  async loadOlder(): Promise<void> {
    const { next, isLoading } = this.state.value;
    if (next === null || isLoading) return;
    await this.#load(next, (page, state) =>
      // The oldest rows may have been dropped meanwhile: this page does not follow on what is left.
      state.next === next ? { rows: [...state.rows, ...page.rows], next: page.next } : {},
    );
  }

  /** What is shown may have changed while nobody listened: reads again what is seen and a little above it. */
  async refresh(firstSeen: number): Promise<void> {
    if (this.#isAtTop) return this.show(this.#filter);
    const from = Math.max(0, firstSeen - rowsAboveSeen);
    this.#isStaleAbove ||= from > 0;
    const before = (this.state.value.rows[from]?.seq ?? 0) + 1;
    await this.#load(before, (page, state) => withPage(state, before, page));
  }

  add(arrived: readonly WireRow[], skipped: number): void {
    const rows = arrived.filter((row) => matches(this.#filter, row));
    if (this.state.value.isLoading) this.#meanwhile.arrived.push(...rows);
    if (this.#isAtTop && skipped > 0) this.#readAgain();
    else if (this.#isAtTop) this.#insert(rows);
    else this.countUnseen(rows.length + skipped);
  }

  #insert(arrived: readonly WireRow[]): void {
    const { value: old } = this.state;
    const all = withNewer(old, arrived);
    const inserted = old.inserted + all.rows.length - old.rows.length;
    this.state.change({ ...keepNewest(all, mostRowsAtTop), inserted });
  }

  countUnseen(count: number): void {
    this.state.change({ unseen: this.state.value.unseen + count });
  }

  changed(rows: readonly WireRow[]): void {
    if (this.state.value.isLoading) this.#meanwhile.changed.push(...rows);
    this.state.change(withChanged(this.state.value, rows));
  }

  /** While it is scrolled down, arrivals are only counted, so that no row moves under the pointer. */
  setAtTop(isAtTop: boolean): void {
    if (isAtTop === this.#isAtTop) return;
    this.#isAtTop = isAtTop;
    if (isAtTop && (this.state.value.unseen > 0 || this.#isStaleAbove)) void this.show(this.#filter);
  }

  /** A page that is being read is waited for: in a flood none would ever be shown. */
  #readAgain(): void {
    if (this.state.value.isLoading) this.#meanwhile.isOutdated = true;
    else void this.show(this.#filter);
  }

  async #load(
    before: number | null,
    merge: (page: WirePage, state: ListState, meanwhile: Meanwhile) => Partial<ListState>,
  ): Promise<void> {
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    const meanwhile = (this.#meanwhile = new Meanwhile());
    this.state.change({ isLoading: true, problem: null });
    const query = queryOf(this.#filter, { before, limit: pageSize });
    try {
      const page = await this.#api.get<WirePage>(`/api/deliveries?${query}`, signal);
      if (signal.aborted) return;
      const merged = { ...this.state.value, ...merge(page, this.state.value, meanwhile) };
      this.state.change({ ...merged, ...withChanged(merged, meanwhile.changed), isLoading: false });
      if (meanwhile.isOutdated && this.#isAtTop) void this.show(this.#filter);
    } catch (error) {
      if (!isAbort(error)) this.state.change({ isLoading: false, problem: problemOf(error) });
    }
  }
}
