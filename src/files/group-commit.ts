/** Enough items to share the cost of a sync, few enough to bound its time. */
const maxBatch = 512;

/**
 * Runs items in batches, one after another, in order of arrival. Items that arrive during a batch form the next one. There is
 * no timer: `setImmediate` starts a batch as soon as the event loop has read what the sockets hold.
 */
export class BatchQueue<Item> {
  #waiting: Item[] = [];
  #isScheduled = false;
  #running: Promise<void> | undefined;
  readonly #run: (batch: readonly Item[]) => Promise<void>;

  /** `run` must not reject, but report the result of each item by itself. */
  constructor(run: (batch: readonly Item[]) => Promise<void>) {
    this.#run = run;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#schedule();
  }

  /** Runs batches without delay until no item is left. */
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
    const running = this.#run(this.#waiting.splice(0, maxBatch)).then(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#schedule();
    });
    this.#running = running;
    return running;
  }
}

interface PendingItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Commits the items of many callers together, and gives each caller the result of its own item. `commit` makes all items durable
 * and returns one result for each, in order; or it fails and stores none.
 */
export class GroupCommit<Item, Result> {
  readonly #queue: BatchQueue<PendingItem<Item, Result>>;

  constructor(commit: (items: readonly Item[]) => readonly Result[] | Promise<readonly Result[]>) {
    this.#queue = new BatchQueue(async (batch) => {
      try {
        const results = await commit(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    });
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => this.#queue.add({ item, resolve, reject }));
  }
}
