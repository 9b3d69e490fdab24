/** Enough items to share the cost of a sync, few enough to bound its time. */
const maxBatch = 512;

/**
 * Items that arrive during a batch form the next one. There is no timer: a batch starts as soon as the event
 * loop has read what the sockets hold. Batches run one after another, in order of arrival.
 */
export class BatchQueue<Item> {
  #waiting: Item[] = [];
  #isScheduled = false;
  #running: Promise<void> | undefined;
  readonly #run: (batch: readonly Item[]) => Promise<void>;

  /** `run` never rejects, but reports the result of each item itself. */
  constructor(run: (batch: readonly Item[]) => Promise<void>) {
    this.#run = run;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#schedule();
  }

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

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupCommit<Item, Result> {
  readonly #queue: BatchQueue<Waiting<Item, Result>>;

  /**
   * `commit` makes all items durable and returns one result for each, in order; or it fails and stores none.
   */
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
