/** Work that was given a slot: it keeps the slot until it calls `release`, once. */
export type SlotWork = (release: () => void) => void;

/** Work in order of arrival, at most so much of it at one time. */
export class SlotQueue {
  readonly #slots: number;
  readonly #waiting = new Fifo<SlotWork>();
  #used = 0;
  #paused = false;
  #starting = false;

  constructor(slots: number) {
    this.#slots = slots;
  }

  enqueue(work: SlotWork): void {
    this.#waiting.push(work);
    this.#startWaiting();
  }

  /** Nothing is started until `resume`; what runs goes on. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#startWaiting();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting.clear();
  }

  #startWaiting(): void {
    // Work that releases its slot at once comes back here: the loop below goes on instead of a deeper call.
    if (this.#starting) return;
    this.#starting = true;
    while (!this.#paused && this.#used < this.#slots) {
      const work = this.#waiting.shift();
      if (work === undefined) break;
      this.#used += 1;
      work(() => {
        this.#used -= 1;
        this.#startWaiting();
      });
    }
    this.#starting = false;
  }
}

/** First in, first out; an array's own `shift` moves everything that waits, and a hundred thousand may. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
