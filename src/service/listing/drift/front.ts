import type { ScannedRecord } from '../../../json/scanned-record.ts';

/** Ids that are kept of each reading. */
const length = 1000;

/** Where the list begins, as each pass found it: what moves or arrives there is found by reading it again. */
export class Front {
  /** Places in the reading before this one. */
  #before: ReadonlyMap<string, number> = new Map();
  #now = new Map<string, number>();
  #isOldPage = false;
  #isOfFront = false;
  #idle = 0;

  /** True in a resumed walk, which has not read the beginning of the list. */
  get isUnknown(): boolean {
    return this.#before.size + this.#now.size === 0;
  }

  /**
   * The list is read from its beginning once more. With `isFrontAlone`, that is held against what the last reading of
   * the whole list found: a lead that moved there may stand behind others that moved after it.
   */
  beginReading(isFrontAlone: boolean): void {
    if (this.#now.size > 0 && !(isFrontAlone && this.#isOfFront)) this.#before = this.#now;
    this.#isOfFront = isFrontAlone;
    this.#now = new Map();
  }

  /** To be called with the first records of each page. Changes nothing in a pass that did not read the beginning. */
  notePage(leads: readonly ScannedRecord[], isStart: boolean, isFront: boolean): void {
    const isFull = this.#now.size >= length;
    if (!isFront && !isStart && (isFull || this.#now.size === 0)) return;
    const ids = leads.slice(0, length).flatMap(({ id }) => (id === undefined ? [] : [id]));
    for (const id of ids)
      if (this.#now.size < length && !this.#now.has(id)) this.#now.set(id, this.#now.size);
    const places = ids.flatMap((id) => this.#before.get(id) ?? []);
    this.#isOldPage = places.length * 2 > ids.length && this.#areAsBefore(places);
  }

  /** In the order of then, and what stood between them has been met further in front: it moved there. */
  #areAsBefore(places: readonly number[]): boolean {
    const order = [...this.#before.keys()];
    return places.every((place, i) => {
      const previous = places[i - 1] ?? place - 1;
      return previous < place && order.slice(previous + 1, place).every((id) => this.#now.has(id));
    });
  }

  /**
   * Whether it was read as far as leads may have moved there: to a page without a new lead that consists, for the
   * greater part, of what stood there before, as it stood. Leads that moved may hide others behind them.
   */
  isReadUpTo(isIdle: boolean): boolean {
    this.#idle = isIdle ? this.#idle + 1 : 0;
    return this.#before.size === 0 ? this.#idle > 1 : isIdle && this.#isOldPage;
  }
}
