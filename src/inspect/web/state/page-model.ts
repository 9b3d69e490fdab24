import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import type { WireCounts, WireCurl, WireDelivery, WireEvent, WireInbox, WireRow } from '../../wire.ts';
import type { Api } from '../api-client/api.ts';
import { LiveEvents } from '../api-client/live-events.ts';
import { problemOf } from '../api-client/problem.ts';
import { plural } from '../text/format.ts';
import { DeliveryList } from './delivery-list.ts';
import { Observable } from './observable.ts';
import { goFilter, keepSearch, listFilter, searchedText } from './route.ts';
import { isFiltered, type ListFilter, queryOf } from './rows.ts';
import { Search } from './search.ts';

/** Arrivals are added up, so that a screen reader is not kept busy by them; ms. */
const arrivalsEveryMs = 5_000;

/** Counting looks at an index of all deliveries; ms. */
const countEveryMs = 2_000;

/** How long a message stays; ms. */
const shownMs = 4_000;

/** What is said in the live region, and shown for a moment where it answers something that was done. */
class Announcer {
  readonly spoken = new Observable('');
  readonly message = new Observable<string | null>(null);
  #arrived = 0;
  #hide: number | undefined;

  say(text: string): void {
    this.spoken.value = text;
  }

  show(text: string): void {
    this.say(text);
    this.message.value = text;
    clearTimeout(this.#hide);
    this.#hide = setTimeout(() => (this.message.value = null), shownMs);
  }

  arrived(count: number): void {
    this.#arrived += count;
    if (this.#arrived > count) return;
    setTimeout(() => {
      this.say(plural(this.#arrived, 'new delivery', 'new deliveries'));
      this.#arrived = 0;
    }, arrivalsEveryMs);
  }
}

export type OpenDialog =
  | { readonly name: 'help' }
  | { readonly name: 'replay'; readonly delivery: WireDelivery }
  | ({ readonly name: 'curl' } & WireCurl);

/** All that the parts of the page share. */
export class PageModel {
  readonly filter = listFilter;
  readonly list: DeliveryList;
  readonly search: Search;
  readonly live: LiveEvents;
  readonly announcer = new Announcer();
  /** The number of the row that the keys move from. */
  readonly selected = new Observable<number | null>(null);
  readonly dialog = new Observable<OpenDialog | null>(null);
  /** The delivery that the pane shows, once it is loaded. */
  readonly shown = new Observable<WireDelivery | null>(null);
  /** Why the program cannot read the inbox now. */
  readonly inboxProblem = new Observable<string | null>(null);
  /** Null: not known yet. */
  readonly counts = new Observable<WireCounts | null>(null);
  /** Grows when what the pane shows may have changed. */
  readonly version = new Observable(0);
  /** The first row that is seen, by its index. */
  firstSeen = 0;

  readonly api: Api;
  readonly inbox: WireInbox;
  #newestSeq: number;
  #isCounting = false;
  #isCountOld = false;

  constructor(api: Api, inbox: WireInbox) {
    this.api = api;
    this.inbox = inbox;
    this.#newestSeq = inbox.newestSeq;
    this.list = new DeliveryList(api);
    this.search = new Search(api, this.list.isPaused);
    this.live = new LiveEvents(
      api,
      inbox.newestSeq,
      (event) => this.#take(event),
      () => this.#refresh(),
    );
  }

  start(): void {
    // One reader answers both: the rows come first.
    void this.list.show(this.filter.value).then(() => this.#count());
    this.filter.subscribe((filter) => this.#filterBy(filter));
    // Where a link, a reload or Back brought it.
    const search = (text: string): void => {
      if (text !== (this.search.state.value?.text ?? '')) this.find(text);
    };
    searchedText.subscribe(search);
    search(searchedText.value);
    this.live.start();
  }

  setFilter(filter: ListFilter): void {
    goFilter({ ...filter });
  }

  /** What the list has of each verdict, whatever is filtered; one at a time, and once more where it may have changed since. */
  async #count(): Promise<void> {
    this.#isCountOld = true;
    if (this.#isCounting) return;
    this.#isCounting = true;
    try {
      while (this.#isCountOld) {
        this.#isCountOld = false;
        const query = queryOf({ ...this.filter.value, verdicts: [] }, {});
        this.counts.value = await this.api.get<WireCounts>(`/api/counts?${query}`);
        await new Promise((resolve) => setTimeout(resolve, countEveryMs));
      }
    } catch (error) {
      // That nothing can be read is said elsewhere.
      problemOf(error);
    } finally {
      this.#isCounting = false;
    }
  }

  #filterBy(filter: ListFilter): void {
    void this.list.show(filter).then(() => this.#count());
    const search = this.search.state.value;
    if (search !== null) void this.search.start(search.text, filter, this.#newestSeq);
  }

  find(text: string): void {
    void this.search.start(text, this.filter.value, this.#newestSeq);
    keepSearch(text);
  }

  togglePause(): void {
    const { isPaused } = this.list;
    isPaused.value = !isPaused.value;
    this.announcer.show(isPaused.value ? 'Paused: new deliveries are counted.' : 'Live again.');
    this.list.release();
    this.search.release();
  }

  /** What the list shows: what was found, or all that matches. */
  get rows(): readonly WireRow[] {
    return (this.search.state.value ?? this.list.state.value).rows;
  }

  loadOlder(): void {
    if (this.search.state.value === null) void this.list.loadOlder();
    else void this.search.more(this.filter.value);
  }

  /** Resolves to false where there are none. */
  async readOlder(): Promise<boolean> {
    const { value: search } = this.search.state;
    if ((search ?? this.list.state.value).next === null) return false;
    await (search === null ? this.list.loadOlder() : this.search.more(this.filter.value));
    return (search ?? this.list.state.value).problem === null;
  }

  /**
   * The delivery that many rows further down, or the last one there; from none the first one that is seen. Null where there
   * are no rows.
   */
  neighbour(by: number): WireRow | null {
    const { rows } = this;
    const index = rows.findIndex(({ seq }) => seq === this.selected.value);
    const wanted = index === -1 && Number.isFinite(by) ? this.firstSeen : index + by;
    const last = rows.length - 1;
    if (wanted >= last - 4) this.loadOlder();
    return rows[Math.max(0, Math.min(wanted, last))] ?? null;
  }

  #take(event: WireEvent): void {
    if (event.type === 'deliveries') {
      this.#newestSeq = event.newestSeq;
      this.search.arrived(this.filter.value, event.newestSeq);
      this.list.add(event.rows, event.skipped);
      const count = event.rows.length + event.skipped;
      if (count > 0 && !isFiltered(this.filter.value) && this.search.state.value === null)
        this.announcer.arrived(count);
    } else if (event.type === 'changed') {
      this.list.changed(event.rows);
      this.search.changed(event.rows);
    } else if (event.type === 'removed') this.#refresh();
    else this.inboxProblem.value = event.problem;
    if ('rows' in event) void this.#count();
    if ('rows' in event && this.#concernsShown(event.rows)) this.version.value++;
  }

  #concernsShown(rows: readonly WireRow[]): boolean {
    const { value: shown } = this.shown;
    return rows.some(
      ({ seq, leadId }) => seq === shown?.seq || (leadId !== null && leadId === shown?.leadId),
    );
  }

  #refresh(): void {
    void this.#count();
    void this.list.refresh(this.firstSeen);
    void this.search.dropRemoved(this.filter.value);
    this.version.value++;
  }
}

const Model = createContext<PageModel | null>(null);
export const ModelProvider = Model.Provider;

export function useModel(): PageModel {
  const model = useContext(Model);
  if (model === null) throw new Error('outside of the page');
  return model;
}

/** The value, and a new rendering whenever it changes. */
export function useValue<Value>(observable: Observable<Value>): Value {
  const [, render] = useState(observable.value);
  useLayoutEffect(() => {
    // It may have changed between rendering and this.
    render(() => observable.value);
    return observable.subscribe((value) => render(() => value));
  }, [observable]);
  return observable.value;
}
