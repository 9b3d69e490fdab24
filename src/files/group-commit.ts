interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Items in one commit: enough to share the cost of a sync, few enough to bound its time. */
const maxBatch = 512;

/**
 * Group commit: items that arrive while one batch is made durable form the next one. There is no timer: a batch starts
 * as soon as the event loop has read what the sockets hold. Batches run one after another, in order of arrival.
 */
export class GroupCommit<Item, Result> {
  #waiting: Waiting<Item, Result>[] = [];
  #isScheduled = false;
  #running: Promise<void> | undefined;
  readonly #commit: (items: readonly Item[]) => readonly Result[] | Promise<readonly Result[]>;

  /** `commit` makes all items durable and gives one result for each, in order; or it fails and leaves none. */
  constructor(commit: (items: readonly Item[]) => readonly Result[] | Promise<readonly Result[]>) {
    this.#commit = commit;
  }

  /** Resolves when the item is durable; rejects with what its batch failed with. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits any more: everything added so far is durable or has failed. */
  async flush(): Promise<void> {
    while (this.#running !== undefined || this.#waiting.length > 0) {
      await (this.#running ?? this.#startBatch());
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#running === undefined && this.#waiting.length > 0) void this.#startBatch();
    });
  }

  #startBatch(): Promise<void> {
    const running = this.#commitBatch(this.#waiting.splice(0, maxBatch)).then(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#schedule();
    });
    this.#running = running;
    return running;
  }

  async #commitBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    }
  }
}
