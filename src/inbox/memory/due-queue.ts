/** Where an item is in its queue, which keeps it. */
export interface Queued {
  /** -1: it is in none. */
  place: number;
}

/** A binary heap whose items know their places, so that any of them can be moved or removed without a search. */
export class DueQueue<T extends Queued> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  /** Puts it in, or to its new place after a change. */
  put(item: T): void {
    if (item.place < 0) item.place = this.#items.push(item) - 1;
    this.#settle(item);
  }

  remove(item: T): void {
    const last = item.place < 0 ? undefined : this.#items.pop();
    if (last === undefined) return;
    if (last !== item) {
      this.#set(item.place, last);
      this.#settle(last);
    }
    item.place = -1;
  }

  /** The earliest of those that are wanted, in order; `isWanted` is true up to some item and false from there on. */
  earliest(limit: number, isWanted: (item: T) => boolean): readonly T[] {
    const found: T[] = [];
    for (let item = this.first; item !== undefined && found.length < limit && isWanted(item);) {
      found.push(item);
      this.remove(item);
      item = this.first;
    }
    for (const item of found) this.put(item);
    return found;
  }

  #set(place: number, item: T): void {
    this.#items[place] = item;
    item.place = place;
  }

  #settle(item: T): void {
    for (let parent; (parent = this.#items[(item.place - 1) >> 1]) && this.#isBefore(item, parent);) {
      this.#swap(item, parent);
    }
    for (let child; (child = this.#earlierChild(item)) && this.#isBefore(child, item);) {
      this.#swap(item, child);
    }
  }

  #earlierChild({ place }: T): T | undefined {
    const [left, right] = [this.#items[2 * place + 1], this.#items[2 * place + 2]];
    return left !== undefined && right !== undefined && this.#isBefore(right, left) ? right : left;
  }

  #swap(a: T, b: T): void {
    const { place } = a;
    this.#set(b.place, a);
    this.#set(place, b);
  }
}
