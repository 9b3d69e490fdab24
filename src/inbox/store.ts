import { BatchQueue } from '../files/group-commit.ts';
import { type BatchItem, decide, rejectItem, takeItem } from './decide.ts';
import type { Driver, Start } from './driver.ts';
import type { Backlog, Inbox, InboxReader, RejectedDelivery, TakeResult } from './inbox.ts';
import { sumBacklog } from './inbox.ts';
import { type Opened, readerOf, readMeta } from './store-reader.ts';
import { bodiesWithIds, eraseLeads } from './sql/erase.ts';
import {
  backlogPage,
  backlogPageOf,
  claim,
  claimLead,
  giveUp,
  makeDue,
  nextDueQuery,
  record,
  storeLabels,
  undonePage,
  undoneTargets,
} from './sql/forwards.ts';
import { pruneSome } from './sql/removal.ts';
import { fromColumn, numberOf, optionalNumber, sql, textOf, type Work } from './sql/statement.ts';
import { loadStoredState, saveChanges } from './sql/store-batch.ts';
import type { StoreOptions } from './store-options.ts';
import { storedNames } from './target-name.ts';

/** Deliveries are decided about together; statements run behind them, in the same transaction. */
type Task =
  | { readonly kind: 'deliveries'; readonly item: BatchItem }
  | { readonly kind: 'statements'; readonly work: (start: Start) => Work<unknown> };

/** One write of a caller. The writes that wait are committed together. */
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

/** Opens the inbox of a database that has its tables. */
export async function openStore(driver: Driver, options: Omit<StoreOptions, 'location'>): Promise<Inbox> {
  const { clock, targets } = options;
  const opened = await readMeta(driver, clock);
  const storedName = storedNames(opened.key, (digest) => digest.toString('base64url'));
  const newTargets = await driver.write(() => storeLabels(targets, storedName));
  const store = new Store(driver, options, { ...opened, storedName });
  return { ...readerOf(driver, opened.key, targets.map(storedName)), ...store.methods(), newTargets };
}

class Store {
  readonly #driver: Driver;
  readonly #options: Omit<StoreOptions, 'location'>;
  readonly #opened: Opened & { readonly storedName: (target: string) => string };
  readonly #queue = new BatchQueue<QueuedWrite>((writes) => this.#commit(writes));
  #rejectedWaiting = 0;

  constructor(
    driver: Driver,
    options: Omit<StoreOptions, 'location'>,
    opened: Opened & { readonly storedName: (target: string) => string },
  ) {
    this.#driver = driver;
    this.#options = options;
    this.#opened = opened;
  }

  methods(): Omit<Inbox, keyof InboxReader | 'newTargets'> & Pick<Inbox, 'close'> {
    const { dialect, pool } = this.#driver;
    const { claimMs, redact } = this.#options;
    const { storedName } = this.#opened;
    return {
      take: (arrivals) => this.#addItem<readonly TakeResult[]>(() => takeItem(arrivals, redact)),
      reject: (rejected) => this.#reject(rejected),
      claim: (target, limit, { withinMs = 0, isWhole = false, isProbe = false } = {}) =>
        this.#add(({ now }) => {
          const dueBy = now + Math.round(withinMs);
          return claim(
            dialect,
            { target: storedName(target), limit, dueBy, isWhole, isProbe },
            { now, claimMs },
          );
        }),
      claimLeads: (leadIds, target) =>
        this.#add(function* ({ now }) {
          const stored = target === undefined ? undefined : storedName(target);
          const claims = [];
          for (const leadId of leadIds) claims.push(yield* claimLead(leadId, stored, { now, claimMs }));
          return claims;
        }),
      record: (records) => this.#add(({ now }) => record(records, storedName, now)),
      nextDueIn: (target) =>
        this.#read(async () => {
          const query = nextDueQuery(dialect, storedName(target), this.#driver.now());
          return optionalNumber((await this.#driver.read(query))[0]?.['due_in']);
        }),
      giveUp: (target, afterMs) =>
        this.#add(({ now }) => giveUp(storedName(target), now - Math.round(afterMs), now)),
      makeDue: (leadIds, dueAt = Infinity) =>
        this.#add(({ now }) => makeDue(dialect, leadIds, { now, dueAt })),
      waiting: (target) => this.#waiting(target),
      checkWritable: () => this.#checkWritable(),
      backlog: () => this.#read(() => this.#backlog()),
      ...(pool === undefined ? {} : { pool }),
      prune: (before) => this.#prune(before),
      erase: (erasure) => this.#erase(erasure),
      compact: async () => {
        try {
          return await this.#driver.compact();
        } catch (error) {
          throw this.#driver.writeError(error);
        }
      },
      close: async () => {
        await this.#queue.flush();
        await this.#driver.close();
      },
    };
  }

  #add<T>(work: (start: Start) => Work<T>): Promise<T> {
    return this.#enqueue({ kind: 'statements', work });
  }

  #addItem<T>(itemOf: () => BatchItem): Promise<T> {
    try {
      return this.#enqueue({ kind: 'deliveries', item: itemOf() });
    } catch (error) {
      return Promise.reject(this.#driver.writeError(error));
    }
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
      this.#options.onCommit?.(writes.length);
      writes.forEach(({ resolve }, i) => resolve(results[i]));
    } catch (error) {
      if (this.#driver.isLocked(error)) {
        await this.#commitLater(writes, error);
        return;
      }
      if (writes.length === 1 || !this.#driver.isOfData(error)) {
        this.#fail(writes, error);
        return;
      }
      const middle = Math.ceil(writes.length / 2);
      await this.#commit(writes.slice(0, middle));
      await this.#commit(writes.slice(middle));
    }
  }

  async #commitLater(writes: readonly QueuedWrite[], error: unknown): Promise<void> {
    const { clock } = this.#options;
    const isOver = ({ deadline }: QueuedWrite): boolean => clock.steady() >= deadline;
    const waiting = writes.filter((write) => !isOver(write));
    this.#fail(writes.filter(isOver), error);
    if (waiting.length === 0) return;
    await clock.sleep(lockPollMs);
    await this.#commit(waiting);
  }

  #fail(writes: readonly QueuedWrite[], error: unknown): void {
    const leads = writes.reduce(
      (sum, { task }) => sum + (task.kind === 'deliveries' ? leadCount(task.item) : 0),
      0,
    );
    if (leads > 0 && this.#driver.mayBeStored?.(error) === true) {
      this.#options.warn({ kind: 'leads-may-be-stored', leads });
    }
    for (const { reject } of writes) reject(this.#driver.writeError(error));
  }

  /** Stores the deliveries first, as one batch. */
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
      sql`UPDATE @meta SET seq = ${seq}, nonces_noted = ${start.now},
        nonces_at = CASE WHEN nonces_at < ${noncesNow} THEN ${noncesNow} ELSE nonces_at END`,
    ];
    return all;
  }

  *#takeBatch(
    batch: readonly BatchItem[],
    { seq, now }: Start,
    noncesNow: number,
  ): Work<{ readonly results: readonly (readonly TakeResult[])[]; readonly seq: number }> {
    const { dialect } = this.#driver;
    const { claimMs, nonceLifetimeMs, targets } = this.#options;
    const { key, storedName } = this.#opened;
    const stored = yield* loadStoredState(dialect, key, batch);
    const circumstances = { seq, now, claimMs: Math.round(claimMs), noncesNow, nonceLifetimeMs };
    const changes = decide(batch, stored, { ...circumstances, targets, storedName });
    yield* saveChanges(dialect, changes, noncesNow);
    return changes;
  }

  async #reject(rejected: readonly RejectedDelivery[]): Promise<void> {
    // Of a flood only the newest would stay anyway; losing some of it harms nobody. Another event is answered as stored.
    const isFlood = rejected.every(({ rejection }) => rejection.kind === 'rejected');
    if (isFlood && this.#rejectedWaiting >= maxRejectedWaiting) return;
    this.#rejectedWaiting += rejected.length;
    try {
      await this.#addItem(() => rejectItem(rejected, this.#options.redact));
    } finally {
      this.#rejectedWaiting -= rejected.length;
    }
  }

  async #checkWritable(): Promise<void> {
    // Each transaction writes the row of `meta`, an empty one, too.
    await this.#add(function* (): Work<void> {
      yield [];
    });
    try {
      await this.#driver.checkRoom();
    } catch (error) {
      throw this.#driver.writeError(error);
    }
  }

  async *#waiting(target: string | undefined): ReturnType<Inbox['waiting']> {
    const { storedName } = this.#opened;
    const targets =
      target === undefined
        ? (await this.#read(() => this.#driver.read(undoneTargets))).map(({ name }) => textOf(name))
        : [storedName(target)];
    for (const name of targets) {
      for (let after = ''; ;) {
        const start = after;
        const rows = await this.#read(() => this.#driver.read(undonePage.query(name, start)));
        for (const row of rows) yield undonePage.refOf(row);
        if (rows.length < undonePage.rows) break;
        after = textOf(rows.at(-1)?.['lead']);
      }
    }
  }

  async #backlog(): Promise<readonly Backlog[]> {
    const own = this.#options.targets.map(this.#opened.storedName);
    const parts: Backlog[] = [];
    for (const { name, label } of await this.#driver.read(undoneTargets)) {
      const target = own.includes(textOf(name)) ? fromColumn(textOf(label)) : undefined;
      for (let after: string | undefined = ''; after !== undefined;) {
        const [row] = await this.#driver.read(backlogPage(textOf(name), after));
        const { leads: count, dead, oldestAt, last } = backlogPageOf(row);
        if (count > 0) parts.push({ target, waiting: count - dead, dead, oldestAt });
        after = last;
      }
    }
    return sumBacklog(parts);
  }

  async #prune(before: number): Promise<number> {
    const { dialect } = this.#driver;
    let dropped = 0;
    for (let after: number | undefined = 0; after !== undefined;) {
      const start: number = after;
      const some = await this.#add(() => pruneSome(dialect, before, start));
      dropped += some.dropped;
      after = some.last;
    }
    return dropped;
  }

  async #erase(erasure: Parameters<Inbox['erase']>[0]): ReturnType<Inbox['erase']> {
    const driver = this.#driver;
    driver.beginErasure();
    const holding = await this.#read(() => bodiesWithIds(driver, erasure.leadIds));
    const counts = await this.#add(() => eraseLeads(driver.dialect, this.#opened.key, erasure, holding));
    const [due] = await this.#read(() => driver.read(sql`SELECT overwrite_due FROM @meta`));
    if (numberOf(due?.['overwrite_due']) === 0) {
      return { ...counts, remains: undefined, outOfReach: driver.outOfReach };
    }
    const overwritten = await driver.overwrite();
    if (overwritten.remains === undefined) {
      await this.#add(function* (): Work<void> {
        yield [sql`UPDATE @meta SET overwrite_due = 0`];
      });
    }
    return { ...counts, ...overwritten };
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw this.#driver.readError(error);
    }
  }
}

const leadCount = ({ deliveries }: BatchItem): number =>
  deliveries.reduce((sum, { leads }) => sum + leads.length, 0);
