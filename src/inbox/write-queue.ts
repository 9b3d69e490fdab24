import type { Problem } from '../errors.ts';
import { BatchQueue } from '../files/group-commit.ts';
import { type BatchItem, type Changes, decide, leadsIn, rejectItem, takeItem } from './decide.ts';
import type { Driver, WriteFailure } from './driver.ts';
import type { Arrival, RejectedDelivery, TakeResult } from './inbox.ts';
import { sql, type Start, type Work } from './sql/statement.ts';
import { loadStoredState, saveChanges } from './sql/store-batch.ts';
import { type StoreOptions, turnMs } from './store-options.ts';
import type { StoredName } from './target-name.ts';

/**
 * The values that are read from `meta` when the store is opened. Under the secret `key` ids of erased leads and names of targets are digested.
 * `noncesStart` plus the reading of the monotonic clock, in milliseconds, is the time of the nonces.
 */
export interface OpenedStore {
  readonly key: Uint8Array;
  readonly storedName: StoredName;
  readonly noncesStart: number;
}

interface QueuedWrite {
  readonly task: BatchItem | ((start: Start) => Work<unknown>);
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The write fails when the database is still locked by another process then; by the monotonic clock. */
  readonly deadline: number;
}

/** How long a write waits for another process that holds the database locked, in milliseconds. */
const lockWaitMs = 5000;

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

type Options = Omit<StoreOptions, 'location'>;

/**
 * The writes of all callers. Those that wait are committed in one transaction: all deliveries in it are decided and stored
 * together, then the other writes run in order, and then each caller gets its result. Where the database is locked, the transaction
 * is tried again until the deadline. One that fails is taken apart, so that only those writes fail that cannot be stored.
 */
export class WriteQueue {
  readonly #driver: Driver;
  readonly #options: Options;
  readonly #opened: OpenedStore;
  readonly #queue = new BatchQueue<QueuedWrite>((writes) => this.#commit(writes));
  /** Rejected deliveries that were added, and are neither stored nor failed so far. */
  #rejectedWaiting = 0;

  constructor(driver: Driver, options: Options, opened: OpenedStore) {
    this.#driver = driver;
    this.#options = options;
    this.#opened = opened;
  }

  add<T>(work: (start: Start) => Work<T>): Promise<T> {
    return this.#enqueue(work);
  }

  addArrivals(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#enqueueItem(() => takeItem(arrivals, this.#options.redact));
  }

  /** Drops the deliveries instead where too many wait: of a flood only the newest would be kept anyway (`maxRejectedKept`). */
  async addRejected(rejected: readonly RejectedDelivery[]): Promise<void> {
    // An event that is no lead was answered as stored, so that it is never dropped.
    const mayBeDropped = rejected.every(({ rejection }) => rejection.kind === 'rejected');
    if (mayBeDropped && this.#rejectedWaiting >= maxRejectedWaiting) return;
    this.#rejectedWaiting += rejected.length;
    try {
      await this.#enqueueItem(() => rejectItem(rejected, this.#options.redact));
    } finally {
      this.#rejectedWaiting -= rejected.length;
    }
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** An item that cannot be made, such as one whose headers cannot be redacted, fails as one that cannot be stored. */
  #enqueueItem(makeItem: () => BatchItem): Promise<readonly TakeResult[]> {
    try {
      return this.#enqueue(makeItem());
    } catch (error) {
      return Promise.reject(this.#driver.writeFailure(error).error);
    }
  }

  #enqueue<T>(task: QueuedWrite['task']): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#options.clock.steady() + lockWaitMs;
      this.#queue.add({ task, resolve: resolve as QueuedWrite['resolve'], reject, deadline });
    });
  }

  /** Settles all of the writes. Never rejects. */
  async #commit(writes: readonly QueuedWrite[]): Promise<void> {
    try {
      const results = await this.#driver.write((start) => this.#transaction(writes, start));
      writes.forEach(({ resolve }, i) => resolve(results[i]));
    } catch (error) {
      const failure = this.#driver.writeFailure(error);
      if (failure.cause === 'locked') await this.#commitLater(writes, failure);
      else if (writes.length === 1 || failure.cause === 'database') this.#fail(writes, failure);
      else {
        const middle = Math.ceil(writes.length / 2);
        await this.#commit(writes.slice(0, middle));
        await this.#commit(writes.slice(middle));
      }
    }
  }

  async #commitLater(writes: readonly QueuedWrite[], failure: WriteFailure): Promise<void> {
    const { clock } = this.#options;
    const isOverdue = ({ deadline }: QueuedWrite): boolean => clock.steady() >= deadline;
    const waiting = writes.filter((write) => !isOverdue(write));
    this.#fail(writes.filter(isOverdue), failure);
    if (waiting.length === 0) return;
    await clock.sleep(turnMs);
    await this.#commit(waiting);
  }

  #fail(writes: readonly QueuedWrite[], { error, mayBeStored }: WriteFailure): void {
    const leads = itemsOf(writes).flatMap(leadsIn).length;
    if (leads > 0 && mayBeStored === true) this.#options.warn(leadsMayBeStored(leads));
    for (const { reject } of writes) reject(error);
  }

  /** The work of one transaction. Gives the result of each write, in order. */
  *#transaction(writes: readonly QueuedWrite[], start: Start): Work<readonly unknown[]> {
    const noncesNow = Math.round(this.#opened.noncesStart + this.#options.clock.steady());
    const items = itemsOf(writes);
    const { results: itemResults, seq } =
      items.length === 0 ? { results: [], seq: start.seq } : yield* this.#storeItems(items, start, noncesNow);
    const resultsInOrder = itemResults.values();
    const results: unknown[] = [];
    for (const { task } of writes) {
      results.push(typeof task === 'function' ? yield* task(start) : resultsInOrder.next().value);
    }
    // By these times `startOf` notices that the clock was set back, and `readMeta` continues the clock of the nonces.
    yield [
      sql`UPDATE @meta SET seq = ${seq}, noted_at = ${start.now}, clock_ahead = ${start.clockAhead},
        nonces_at = CASE WHEN nonces_at < ${noncesNow} THEN ${noncesNow} ELSE nonces_at END`,
    ];
    return results;
  }

  *#storeItems(batch: readonly BatchItem[], start: Start, noncesNow: number): Work<Changes> {
    const { dialect } = this.#driver;
    const { claimMs, nonceLifetimeMs, targets } = this.#options;
    const { key, storedName } = this.#opened;
    const stored = yield* loadStoredState(dialect, key, batch);
    const times = { now: start.forwardsNow, claimMs: Math.round(claimMs), noncesNow, nonceLifetimeMs };
    const changes = decide(batch, stored, { ...times, seq: start.seq, targets, storedName });
    yield* saveChanges(dialect, changes, noncesNow);
    return changes;
  }
}

const itemsOf = (writes: readonly QueuedWrite[]): readonly BatchItem[] =>
  writes.flatMap(({ task }) => (typeof task === 'function' ? [] : [task]));

const leadsMayBeStored = (leads: number): Problem => ({
  kind: 'leads-may-be-stored',
  message:
    `the database did not say whether it stored ${leads === 1 ? '1 lead' : `${leads} leads`}: answered 503, the repeat of one ` +
    "that was stored is a duplicate, its targets get it all the same, and no 'accepted' line was printed for it",
});
