/** What adding an id found: never met, met before this pass (or preloaded), or met in this very pass. */
export type Meeting = 'new' | 'earlier' | 'repeat';

/** The ids that a walk has met. A false duplicate would lose a lead, so ids are compared whole. */
export class IdSet {
  readonly #passes = new Map<string, number>();
  #pass = 1;

  get size(): number {
    return this.#passes.size;
  }

  /** Knows an id from elsewhere (a checkpoint, a bookmark): it will be met as `earlier`. */
  preload(id: string): void {
    if (!this.#passes.has(id)) this.#passes.set(id, 0);
  }

  /** Begins another pass over the same list: what was met before is `earlier` from now on. */
  nextPass(): void {
    this.#pass += 1;
  }

  meet(id: string): Meeting {
    const pass = this.#passes.get(id);
    if (pass === this.#pass) return 'repeat';
    this.#passes.set(id, this.#pass);
    return pass === undefined ? 'new' : 'earlier';
  }
}
