import type { WireFound, WireRow } from '../../wire.ts';
import type { Api } from '../api-client/api.ts';
import { isAbort, Problem, problemOf } from '../api-client/problem.ts';
import { type ListFilter, queryOf, withChanged } from './rows.ts';
import { Observable } from './observable.ts';

export interface SearchState {
  readonly text: string;
  /** In the order of the list: newest first. */
  readonly rows: readonly WireRow[];
  /** What matched, by the delivery's number: such as `e-mail`. */
  readonly places: ReadonlyMap<number, string>;
  /** Found among what arrived since, while the list was aimed at or paused; newest first. */
  readonly waiting: readonly WireRow[];
  /** How many deliveries were looked at, and of how many; null: not known yet. */
  readonly searched: number;
  readonly total: number | null;
  readonly status: 'running' | 'done' | 'cancelled' | 'failed';
  readonly next: number | null;
  readonly problem: Problem | null;
}

/** Longer than most lines take to arrive one after another: a list is not drawn for each of them; ms. */
const drawEveryMs = 40;

/** Where there are too many searches at one time. */
const mostTries = 20;
const tryAgainMs = 100;

/** A search at a time, whose results appear as they are found. */
export class Search {
  /** Null: the list is shown. */
  readonly state = new Observable<SearchState | null>(null);
  readonly #api: Api;
  #running = new AbortController();
  /** Deliveries up to this number are looked at by the search, later ones as they arrive. */
  #searchedUpTo = 0;
  #newestSeq = 0;
  #isFollowing = false;
  /** Whether somebody aims at a row now: it must not move. */
  isAimedAt: () => boolean = () => false;
  readonly #isPaused: Observable<boolean>;
  /** Something was removed while it ran. */
  #isOutdated = false;

  constructor(api: Api, isPaused: Observable<boolean>) {
    this.#api = api;
    this.#isPaused = isPaused;
  }

  async start(text: string, filter: ListFilter, newestSeq: number): Promise<void> {
    this.#running.abort();
    this.#searchedUpTo = this.#newestSeq = newestSeq;
    this.state.value =
      text === ''
        ? null
        : {
            text,
            rows: [],
            places: new Map(),
            waiting: [],
            searched: 0,
            total: null,
            status: 'running',
            next: null,
            problem: null,
          };
    if (text !== '') await this.#run(filter, newestSeq + 1);
  }

  /** Looks at what arrived since, a batch at a time, also while what was there is still looked at. */
  arrived(filter: ListFilter, newestSeq: number): void {
    this.#newestSeq = Math.max(this.#newestSeq, newestSeq);
    if (!this.#isFollowing) void this.#follow(filter);
  }

  async #follow(filter: ListFilter): Promise<void> {
    this.#isFollowing = true;
    try {
      for (;;) {
        const { value: state } = this.state;
        const [after, newest] = [this.#searchedUpTo, this.#newestSeq];
        if (state === null || newest <= after || !['running', 'done'].includes(state.status)) return;
        const { signal } = this.#running;
        this.#searchedUpTo = newest;
        const query = queryOf(filter, { q: state.text, after, before: newest + 1 });
        for await (const line of this.#lines(`/api/search?${query}`, signal)) {
          const { value: now } = this.state;
          if (now === null || signal.aborted) break;
          if (line.type !== 'found') {
            if (line.type === 'end')
              this.#change({
                searched: now.searched + line.deliveries,
                total: now.total === null ? null : now.total + line.deliveries,
              });
            continue;
          }
          const waiting = [...now.waiting, line.row].sort((a, b) => b.seq - a.seq);
          this.#change({ waiting, places: new Map([...now.places, [line.row.seq, line.where]]) });
        }
        this.release();
      }
    } catch (error) {
      // What is not found now is found by the next search: that nothing can be read is said elsewhere.
      if (!isAbort(error)) problemOf(error);
    } finally {
      this.#isFollowing = false;
    }
  }

  /** Shows what was found meanwhile, unless that would move a row that is aimed at. */
  release(): void {
    if (!this.#isPaused.value && !this.isAimedAt()) this.showWaiting();
  }

  showWaiting(): void {
    const { value: state } = this.state;
    if (state !== null && state.waiting.length > 0)
      this.#change({ rows: [...state.waiting, ...state.rows], waiting: [] });
  }

  /** What is shown stays. */
  cancel(): void {
    this.#running.abort();
    this.#change({ status: 'cancelled' });
  }

  async more(filter: ListFilter): Promise<void> {
    const state = this.state.value;
    if (state?.status !== 'done' || state.next === null) return;
    this.#change({ status: 'running', next: null });
    await this.#run(filter, state.next);
  }

  /** Searches again, unseen, and drops what is not found any more: it was erased or pruned. */
  async dropRemoved(filter: ListFilter): Promise<void> {
    const state = this.state.value;
    const oldest = state?.rows.at(-1)?.seq;
    this.#isOutdated = state?.status === 'running';
    if (this.#isOutdated || state === null || oldest === undefined) return;
    this.#running.abort();
    const { signal } = (this.#running = new AbortController());
    const found = new Set<number>();
    let before: number | null = null;
    try {
      do {
        const query = queryOf(filter, { q: state.text, before });
        before = null;
        for await (const line of this.#lines(`/api/search?${query}`, signal)) {
          if (line.type === 'found') found.add(line.row.seq);
          else if (line.type === 'end' && line.next !== null && line.next > oldest) before = line.next;
        }
      } while (before !== null);
    } catch (error) {
      // What was found stays: that nothing can be read is said elsewhere, and this is done again when it can.
      if (!isAbort(error)) problemOf(error);
      return;
    }
    const { value: now } = this.state;
    if (now === null || signal.aborted) return;
    this.#change({ rows: now.rows.filter(({ seq }) => seq < oldest || found.has(seq)) });
  }

  changed(rows: readonly WireRow[]): void {
    if (this.state.value !== null) this.#change(withChanged(this.state.value, rows));
  }

  async #run(filter: ListFilter, before: number): Promise<void> {
    const { signal } = (this.#running = new AbortController());
    const started = this.state.value;
    if (started === null) return;
    let found: WireRow[] = [];
    let places: [number, string][] = [];
    let searched = 0;
    let drawnAt = -Infinity;
    const draw = (): void => {
      const { value: now } = this.state;
      if (now === null) return;
      this.#change({ rows: [...now.rows, ...found], places: new Map([...now.places, ...places]) });
      [found, places] = [[], []];
    };
    try {
      const query = queryOf(filter, { q: started.text, before });
      for await (const line of this.#lines(`/api/search?${query}`, signal)) {
        if (line.type === 'found') {
          found.push(line.row);
          places.push([line.row.seq, line.where]);
        } else {
          const more = line.deliveries - searched;
          searched = line.deliveries;
          const { value: now } = this.state;
          this.#change({ searched: (now?.searched ?? 0) + more, total: line.total ?? now?.total ?? null });
        }
        if (line.type === 'end') {
          draw();
          this.#change({ status: 'done', next: line.next });
          if (this.#isOutdated) void this.dropRemoved(filter);
        } else if (performance.now() - drawnAt >= drawEveryMs) {
          draw();
          drawnAt = performance.now();
        }
      }
      if (this.state.value?.status === 'running') throw new Problem('unreachable', 'the search broke off');
    } catch (error) {
      if (!isAbort(error)) this.#change({ status: 'failed', problem: problemOf(error) });
    }
  }

  /** The search before this one may still be ending on the other side, and there are only a few at one time. */
  async *#lines(path: string, signal: AbortSignal): AsyncGenerator<WireFound> {
    for (let triesLeft = mostTries - 1; ; triesLeft--) {
      try {
        yield* this.#api.lines<WireFound>(path, signal);
        return;
      } catch (error) {
        if (triesLeft === 0 || isAbort(error) || problemOf(error).code !== 'busy') throw error;
        await new Promise((resolve) => setTimeout(resolve, tryAgainMs));
      }
    }
  }

  #change(members: Partial<SearchState>): void {
    if (this.state.value !== null) this.state.value = { ...this.state.value, ...members };
  }
}
