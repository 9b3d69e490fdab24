import type { Problem } from '../errors.ts';
import { BatchQueue } from '../files/group-commit.ts';
import { type BatchItem, decide, rejectItem, takeItem } from './decide.ts';
import type { Driver, WriteFailure } from './driver.ts';
import type { Inbox, RejectedDelivery, TakeResult } from './inbox.ts';
import { type Opened, readerOf, readMeta } from './store-reader.ts';
import { bodiesWithIds, eraseLeads } from './sql/erase.ts';
import { claim, claimLead, giveUp, makeDue, nextDueQuery, record } from './sql/forwards.ts';
import { pruneSome } from './sql/removal.ts';
import { numberOf, optionalNumber } from './sql/row.ts';
import { sql, type Start, type Statement, type Work } from './sql/statement.ts';
import { loadStoredState, saveChanges } from './sql/store-batch.ts';
import { storeLabels } from './sql/waiting.ts';
import type { StoreOptions } from './store-options.ts';

type Task =
  | { readonly kind: 'deliveries'; readonly item: BatchItem }
  | { readonly kind: 'statements'; readonly work: (start: Start) => Work<unknown> };

/** A write of a caller. The writes that wait are committed together. */
interface QueuedWrite {
  readonly task: Task;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** When it gives up waiting for another process that writes, by the monotonic clock. */
  readonly deadline: number;
}

/** How long a write waits for another process, and between two looks; in milliseconds. */
const lockWaitMs = 5000;
const lockPollMs = 20;

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

type Options = Omit<StoreOptions, 'location'>;

export async function openStore(driver: Driver, options: Options): Promise<Inbox> {
  const { clock, claimMs, redact, targets } = options;
  const opened = await readMeta(driver, clock);
  const { storedName } = opened;
  const newTargets = await driver.write(() => storeLabels(targets, storedName));
  const { dialect } = driver;
  const writes = new WriteQueue(driver, options, opened);
  return {
    ...readerOf(driver, opened, targets),
    newTargets,
    take: (arrivals) => writes.addItem<readonly TakeResult[]>(() => takeItem(arrivals, redact)),
    reject: (rejected) => writes.reject(rejected),
    claim: (target, limit, { isWhole = false, isProbe = false } = {}) =>
      writes.add((start) =>
        claim(dialect, { target: storedName(target), limit, isWhole, isProbe, claimMs }, start),
      ),
    claimLeads: (leadIds, target) =>
      writes.add(function* ({ forwardsNow: now }) {
        const stored = target === undefined ? undefined : storedName(target);
        const claims = [];
        for (const leadId of leadIds) {
          claims.push(yield* claimLead(leadId, stored, { now, claimMs }));
        }
        return claims;
      }),
    record: (records) => writes.add(({ forwardsNow }) => record(records, storedName, forwardsNow)),
    nextDueIn: async (target) => {
      const [row] = await driver.read(nextDueQuery(dialect, storedName(target), driver.now()));
      return optionalNumber(row?.['due_in']);
    },
    giveUp: (target, afterMs) =>
      writes.add(({ forwardsNow: now }) => giveUp(storedName(target), now - Math.round(afterMs), now)),
    makeDue: (leadIds, dueAt = Infinity) =>
      writes.add(({ forwardsNow: now, clockAhead }) =>
        makeDue(dialect, leadIds, { now, dueAt: dueAt + clockAhead }),
      ),
    async checkWritable() {
      await writes.add(() => run());
      await driver.checkWritable().catch((error: unknown) => {
        throw driver.writeFailure(error).error;
      });
    },
    async prune(before) {
      let dropped = 0;
      for (let after: number | undefined = 0; after !== undefined;) {
        const start: number = after;
        const step = await writes.add(() => pruneSome(dialect, before, start));
        dropped += step.dropped;
        after = step.last;
      }
      return dropped;
    },
    async erase(erasure) {
      driver.beginErasure();
      const holding = await bodiesWithIds(driver, erasure.leadIds);
      const counts = await writes.add(() => eraseLeads(dialect, opened.key, erasure, holding));
      const [due] = await driver.read(sql`SELECT overwrite_due FROM @meta`);
      if (numberOf(due?.['overwrite_due']) === 0) {
        return { ...counts, remains: undefined, outOfReach: driver.outOfReach };
      }
      const overwritten = await driver.overwrite();
      if (overwritten.remains === undefined)
        await writes.add(() => run(sql`UPDATE @meta SET overwrite_due = 0`));
      return { ...counts, ...overwritten };
    },
    compact: () => driver.compact(),
    async close() {
      await writes.flush();
      await driver.close();
    },
  };
}

function* run(...statements: readonly Statement[]): Work<void> {
  yield statements;
}

const leadsMayBeStored = (leads: number): Problem => ({
  kind: 'leads-may-be-stored',
  message:
    `the database did not say whether it stored ${leads === 1 ? '1 lead' : `${leads} leads`}: answered 503, the repeat of one ` +
    "that was stored is a duplicate, its targets get it all the same, and no 'accepted' line was printed for it",
});

/** The writes of all callers: those that wait are committed together. */
class WriteQueue {
  readonly #driver: Driver;
  readonly #options: Options;
  readonly #opened: Opened;
  readonly #queue = new BatchQueue<QueuedWrite>((writes) => this.#commit(writes));
  #rejectedWaiting = 0;

  constructor(driver: Driver, options: Options, opened: Opened) {
    this.#driver = driver;
    this.#options = options;
    this.#opened = opened;
  }

  add<T>(work: (start: Start) => Work<T>): Promise<T> {
    return this.#enqueue({ kind: 'statements', work });
  }

  addItem<T>(itemOf: () => BatchItem): Promise<T> {
    try {
      return this.#enqueue({ kind: 'deliveries', item: itemOf() });
    } catch (error) {
      return Promise.reject(this.#driver.writeFailure(error).error);
    }
  }

  async reject(rejected: readonly RejectedDelivery[]): Promise<void> {
    // Only the newest of a flood would stay anyway. An event that is no lead was answered as stored, and is kept.
    const isFlood = rejected.every(({ rejection }) => rejection.kind === 'rejected');
    if (isFlood && this.#rejectedWaiting >= maxRejectedWaiting) return;
    this.#rejectedWaiting += rejected.length;
    try {
      await this.addItem(() => rejectItem(rejected, this.#options.redact));
    } finally {
      this.#rejectedWaiting -= rejected.length;
    }
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  #enqueue<T>(task: Task): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#options.clock.steady() + lockWaitMs;
      this.#queue.add({ task, resolve: resolve as QueuedWrite['resolve'], reject, deadline });
    });
  }

  /** A batch that fails is taken apart until only those writes fail that cannot be stored. Never rejects. */
  async #commit(writes: readonly QueuedWrite[]): Promise<void> {
    try {
      const results = await this.#driver.write((start) => this.#writesWork(writes, start));
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
    const isOver = ({ deadline }: QueuedWrite): boolean => clock.steady() >= deadline;
    const waiting = writes.filter((write) => !isOver(write));
    this.#fail(writes.filter(isOver), failure);
    if (waiting.length === 0) return;
    await clock.sleep(lockPollMs);
    await this.#commit(waiting);
  }

  #fail(writes: readonly QueuedWrite[], { error, mayBeStored }: WriteFailure): void {
    const items = writes.flatMap(({ task }) => (task.kind === 'deliveries' ? task.item.deliveries : []));
    const leads = items.reduce((sum, delivery) => sum + delivery.leads.length, 0);
    if (leads > 0 && mayBeStored === true) this.#options.warn(leadsMayBeStored(leads));
    for (const { reject } of writes) reject(error);
  }

  *#writesWork(writes: readonly QueuedWrite[], start: Start): Work<readonly unknown[]> {
    const noncesNow = Math.round(this.#opened.noncesStart + this.#options.clock.steady());
    const items = writes.flatMap(({ task }) => (task.kind === 'deliveries' ? [task.item] : []));
    const { results, seq } =
      items.length === 0 ? { results: [], seq: start.seq } : yield* this.#takeBatch(items, start, noncesNow);
    const batchResults = results.values();
    const all: unknown[] = [];
    for (const { task } of writes) {
      all.push(task.kind === 'deliveries' ? batchResults.next().value : yield* task.work(start));
    }
    yield [
      sql`UPDATE @meta SET seq = ${seq}, noted_at = ${start.now}, clock_ahead = ${start.clockAhead},
        nonces_at = CASE WHEN nonces_at < ${noncesNow} THEN ${noncesNow} ELSE nonces_at END`,
    ];
    return all;
  }

  *#takeBatch(
    batch: readonly BatchItem[],
    start: Start,
    noncesNow: number,
  ): Work<{ readonly results: readonly (readonly TakeResult[])[]; readonly seq: number }> {
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
