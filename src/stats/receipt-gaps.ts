/** Receipts that are held back to be put in order. */
const heldReceipts = 65_536;

/** The longest time between two receipts that follow each other. */
export interface Gap {
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly ms: number;
}

/**
 * The longest gap between receipts that come newest first, nearly: deliveries are numbered when they are stored, which may
 * be seconds after they came. Memory is the same for any number of them.
 */
export class ReceiptGaps {
  #held = new Float64Array(2 * heldReceipts);
  #count = 0;
  /** The earliest receipt so far of those that are in order, or the end of the window. */
  #earliest: number;
  #longest: Gap | undefined;
  #newest: number | undefined;

  /** `end` of the window, in milliseconds since the epoch: nothing came between the newest receipt and then. */
  constructor(end: number) {
    this.#earliest = end;
  }

  /** The latest receipt, in milliseconds since the epoch; undefined where there is none. */
  get newest(): number | undefined {
    return this.#newest;
  }

  /** Milliseconds since the epoch. */
  add(time: number): void {
    this.#newest = Math.max(time, this.#newest ?? -Infinity);
    this.#held[this.#count] = time;
    this.#count += 1;
    if (this.#count === this.#held.length) this.#take(heldReceipts);
  }

  /** `before`: since when nothing had come at the earliest of the receipts, where that is known. */
  longest(before?: number): Gap | undefined {
    this.#take(this.#count);
    if (before !== undefined) this.#follow(before);
    return this.#longest;
  }

  /** The newest of those that are held. */
  #take(amount: number): void {
    const times = this.#held.subarray(0, this.#count).sort();
    const rest = this.#count - amount;
    for (let i = this.#count - 1; i >= rest; i -= 1) this.#follow(times[i] ?? 0);
    this.#count = rest;
  }

  #follow(time: number): void {
    const ms = this.#earliest - time;
    if (ms < 0) return;
    this.#earliest = time;
    if (this.#longest === undefined || ms > this.#longest.ms) this.#longest = { start: time, ms };
  }
}
