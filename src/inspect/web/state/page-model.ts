import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import type { WireCounts, WireCurl, WireDelivery, WireInbox, WireRow } from '../../wire.ts';
import type { Api } from '../api-client/api.ts';
import { Live } from '../api-client/live.ts';
import { problemOf } from '../api-client/problem.ts';
import { DeliveryList } from './delivery-list.ts';
import { Observable } from './observable.ts';
import { goFilter, listFilter } from './route.ts';
import { type ListFilter, queryOf } from './rows.ts';

/** A screen reader is not kept busy by arrivals; ms. */
const arrivalsEveryMs = 5_000;

/** Counting looks at an index of all deliveries; ms. */
const countEveryMs = 2_000;

/** How long a message stays; ms. */
const shownMs = 4_000;

/** What is said in the live region, and shown for a moment where it answers something that was done. */
class Announcer {
  readonly spoken = new Observable('');
  readonly message = new Observable<string | null>(null);
  #hide: number | undefined;
  #hasArrived = false;

  say(text: string): void {
    this.spoken.value = text;
  }

  show(text: string): void {
    this.say(text);
    this.message.value = text;
    clearTimeout(this.#hide);
    this.#hide = setTimeout(() => (this.message.value = null), shownMs);
  }

  arrived(): void {
    if (this.#hasArrived) return;
    this.#hasArrived = true;
    this.say('New deliveries');
    setTimeout(() => {
      // The same words are said again only after others.
      this.say('');
      this.#hasArrived = false;
    }, arrivalsEveryMs);
  }
}

export type OpenDialog =
  | { readonly name: 'help' }
  | { readonly name: 'replay'; readonly delivery: WireDelivery }
  | ({ readonly name: 'curl' } & WireCurl);

/** All that the parts of the page share. */
export class PageModel {
  readonly list: DeliveryList;
  readonly live: Live;
  readonly announcer = new Announcer();
  /** The number of the row that the keys move from. */
  readonly selected = new Observable<number | null>(null);
  readonly dialog = new Observable<OpenDialog | null>(null);
  /** The delivery that the pane shows, once it is loaded. */
  readonly shown = new Observable<WireDelivery | null>(null);
  /** Null: not known yet, or not of what is filtered. */
  readonly counts = new Observable<WireCounts | null>(null);
  /** Grows when what the pane shows may have changed. */
  readonly version = new Observable(0);
  /** The first row that is seen, by its index. */
  firstSeen = 0;

  readonly api: Api;
  readonly inbox: WireInbox;
  #isCounting = false;
  #isCountOld = false;

  constructor(api: Api, inbox: WireInbox) {
    this.api = api;
    this.inbox = inbox;
    this.list = new DeliveryList(api);
    this.live = new Live(api, () => this.#changed());
  }

  start(): void {
    listFilter.subscribe((filter) => {
      this.counts.value = null;
      void this.list.show(filter).then(() => this.#readBesides());
    });
    void this.list.show(listFilter.value).then(() => this.live.start());
  }

  setFilter(filter: ListFilter): void {
    goFilter({ ...filter });
  }

  async #changed(): Promise<void> {
    const hasArrived = await this.list.refresh(this.firstSeen);
    if (hasArrived) this.announcer.arrived();
    void this.#readBesides();
  }

  /** What stands beside the rows is read again after them, one at a time, and once more where it may have changed since. */
  async #readBesides(): Promise<void> {
    this.#isCountOld = true;
    if (this.#isCounting) return;
    this.#isCounting = true;
    try {
      while (this.#isCountOld) {
        this.#isCountOld = false;
        this.version.value++;
        await this.#count();
        await new Promise((resolve) => setTimeout(resolve, countEveryMs));
      }
    } catch (error) {
      // That nothing can be read is said elsewhere.
      problemOf(error);
    } finally {
      this.#isCounting = false;
    }
  }

  /** What the list has of each verdict, whichever of them are filtered; of what is searched for nothing is counted. */
  async #count(): Promise<void> {
    const { value: filter } = listFilter;
    if (filter.text !== '') return;
    const counts = await this.api.get<WireCounts>(`/api/counts?${queryOf({ ...filter, verdicts: [] }, {})}`);
    if (listFilter.value === filter) this.counts.value = counts;
  }

  /**
   * The delivery that many rows further down, or the last one there; from none the first one that is seen. Null where there
   * are no rows.
   */
  neighbour(by: number): WireRow | null {
    const { rows } = this.list.state.value;
    const index = rows.findIndex(({ seq }) => seq === this.selected.value);
    const wanted = index === -1 && Number.isFinite(by) ? this.firstSeen : index + by;
    const last = rows.length - 1;
    if (wanted >= last - 4) void this.list.loadOlder();
    return rows[Math.max(0, Math.min(wanted, last))] ?? null;
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
