interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: Error) => void;
}

/** Items in one transaction: enough to share the cost of a sync, few enough to bound its time. */
const mostAtOnce = 512;

/**
 * Group commit: what arrives while one batch is made durable forms the next one. There is no timer; a batch starts as
 * soon as the event loop has read what the sockets hold.
 */
export class GroupCommit<I, O> {
  #waiting: Waiting<I, O>[] = [];
  #scheduled = false;
  readonly #commit: (items: readonly I[]) => readonly O[];

  /** `commit` makes all of them durable, or throws and leaves none. */
  constructor(commit: (items: readonly I[]) => readonly O[]) {
    this.#commit = commit;
  }

  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits everything that waits, now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commitSome();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitSome();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #commitSome(): void {
    const batch = this.#waiting.splice(0, mostAtOnce);
    if (batch.length === 0) return;
    let results: readonly O[];
    try {
      results = this.#commit(batch.map((one) => one.item));
    } catch (error) {
      for (const one of batch) one.reject(error as Error);
      return;
    }
    batch.forEach((one, i) => one.resolve(results[i] as O));
  }
}
