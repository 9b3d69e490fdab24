export type Release = () => void;

export type Slot = Release | Promise<Release>;

const fewestRemoved = 1024;

/**
 * Limits how many things are done at one time; the others wait in order of arrival. A hundred thousand may wait, so that those
 * who got their slot, the first `#granted` ones of `#waiting`, are removed together.
 */
export class Slots {
  #free: number;
  #waiting: ((release: Release) => void)[] = [];
  #granted = 0;

  constructor(count: number) {
    this.#free = count;
  }

  acquire(): Slot {
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#release;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly #release = (): void => {
    if (this.#granted === this.#waiting.length) {
      this.#free += 1;
      return;
    }
    this.#waiting[this.#granted]?.(this.#release);
    this.#granted += 1;
    if (this.#granted < fewestRemoved || this.#granted * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#granted);
    this.#granted = 0;
  };
}
