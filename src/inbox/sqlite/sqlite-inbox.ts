import type { Inbox, InboxReader } from '../inbox.ts';
import type { OutOfReach } from '../problems.ts';
import { leaseOwner } from '../receiver-liveness.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { BatchCommit } from './batch-commit.ts';
import { nonceClockStart } from './delivery-tables.ts';
import { bodiesWithIds, eraseLeads } from './erased-leads.ts';
import { FileHealth } from './file-health.ts';
import { type Database, textOf, Statements } from './libsql.ts';
import {
  failWhereLocked,
  isOverwriteDue,
  notOverwritten,
  openDatabase,
  openReadOnly,
  overwriteFile,
  shrink,
} from './open-database.ts';
import { cannotOpen, cannotRead, cannotWrite, isBusy, sqliteCode } from './sqlite-errors.ts';
import { sqliteReader } from './sqlite-reader.ts';
import { type OpenedStore, SqliteWriter } from './sqlite-writer.ts';
import {
  outstandingLeads,
  readBacklog,
  removeDeadReceivers,
  RunningReceiver,
  storedNamesOf,
  storeLabels,
} from './target-tables.ts';

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** Of erased data. */
const outOfReach: readonly OutOfReach[] = ['snapshots'];

/** Throws a `ConfigError` when the file is damaged, unreadable, or of another program or a newer version. */
export async function openSqliteInbox(options: StoreOptions): Promise<Inbox> {
  const { location, clock, pid, targets } = options;
  const database = await openDatabase(location, options.warn);
  try {
    removeDeadReceivers(database, pid, clock.now());
    const storedName = storedNamesOf(database);
    storeLabels(database, storedName, targets);
    const owner = leaseOwner(pid);
    new RunningReceiver(new Statements(database), owner).add(targets.map(storedName), clock.now());
    const nonceStart = nonceClockStart(database, clock.steady());
    const opened = { storedName, owner, nonceClockStart: nonceStart };
    failWhereLocked(database);
    return sqliteInbox(database, options, opened);
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The same for reading only: the file, which must exist, stays as it is. */
export async function openSqliteReader(location: string): Promise<InboxReader> {
  const database = await openReadOnly(location);
  try {
    return sqliteReader(database, { location, wanted: [], owner: '' });
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The default store: an embedded database, one transaction a batch, ids unique in the database itself. */
function sqliteInbox(database: Database, options: StoreOptions, opened: OpenedStore): Inbox {
  const { location, clock, onCommit } = options;
  const wanted = options.targets.map(opened.storedName);
  const file = location === inMemory ? undefined : new FileHealth(options);
  const commits = new BatchCommit({
    database,
    createWriter: () => new SqliteWriter(database, options, opened),
    clock,
    verify: () => file?.verifyInPlace(),
    failure(error) {
      file?.failed(error);
      return cannotWrite(location, error);
    },
    onCommit,
  });
  const add = <T>(step: (writer: SqliteWriter) => T): Promise<T> => commits.add(step);
  /** For what reads more than the leads that it names. */
  const addReading = <T>(step: (writer: SqliteWriter) => T): Promise<T> =>
    add((current) => {
      current.insertWaiting();
      return step(current);
    });
  const outstanding = outstandingLeads(database, opened.owner);
  const reading = async <T>(read: () => T): Promise<T> => {
    try {
      return await Promise.resolve(read());
    } catch (cause) {
      file?.failed(cause);
      throw cannotRead(location, cause);
    }
  };
  let rejectedWaiting = 0;
  return {
    ...sqliteReader(database, { location, wanted, owner: opened.owner }),
    take: (arrivals) => commits.add((writer) => writer.take(arrivals), arrivals),
    async reject(rejected) {
      // Of a flood only the newest would stay anyway; losing some of it harms nobody. Another event is answered as stored.
      const isFlood = rejected.every(({ rejection }) => rejection.kind === 'rejected');
      if (isFlood && rejectedWaiting >= maxRejectedWaiting) return;
      rejectedWaiting += rejected.length;
      try {
        await add((writer) => {
          for (const one of rejected) writer.reject(one);
        });
      } finally {
        rejectedWaiting -= rejected.length;
      }
    },
    settle: (leases) => add((writer) => leases.map((lease) => writer.settle(lease))),
    markDoneAtNewAddress: (leases) =>
      add((writer) => leases.map((lease) => writer.markDoneAtNewAddress(lease))),
    release: (leases) =>
      add((writer) => {
        for (const lease of leases) writer.release(lease);
      }),
    lease: (leases) => add((writer) => leases.map((lease) => writer.lease(lease))),
    due: (target, by, limit, leadIds) =>
      reading(() => outstanding.due(opened.storedName(target), by, limit, leadIds)),
    nextDueAt: (target) => reading(() => outstanding.next(opened.storedName(target))),
    beginAnew: (leadIds) => add((writer) => leadIds.filter((leadId) => writer.beginAnew(leadId)).length),
    async *unsettled(target) {
      const names = target === undefined ? await reading(outstanding.targets) : [opened.storedName(target)];
      for (const name of names) {
        for (let after: string | undefined = ''; after !== undefined;) {
          const behind: string = after;
          const { refs, last } = await reading(() => outstanding.page(name, behind));
          yield* refs;
          after = last;
        }
      }
    },
    async checkWritable() {
      // Each transaction writes its counter, an empty one, too.
      await add(() => undefined);
      await file?.checkRoom();
    },
    backlog: () => readBacklog(database, wanted),
    prune: (before) => pruneDeliveries(database, before, addReading),
    async erase(erasure) {
      database.prepare('PRAGMA secure_delete = ON').all([]);
      const holding = await reading(() => bodiesWithIds(database, erasure.leadIds));
      const counts = await addReading((writer) => eraseLeads(database, erasure, writer.erased, holding));
      if (file === undefined) return { ...counts, remains: undefined, outOfReach: [] };
      if (!isOverwriteDue.get(database)) return { ...counts, remains: undefined, outOfReach };
      const remains = await overwriteFile(database, location, clock);
      if (remains === undefined) await add(() => isOverwriteDue.set(database, false));
      return { ...counts, remains, outOfReach };
    },
    compact() {
      const failed = file && shrink(database);
      if (failed === undefined) return Promise.resolve(undefined);
      if (isBusy(failed) || sqliteCode(failed).startsWith('SQLITE_FULL')) {
        return Promise.resolve(notOverwritten(location, failed));
      }
      return Promise.reject(cannotWrite(location, failed));
    },
    async close() {
      // Where that cannot be written, the next one to open the inbox finds this receiver dead.
      if (wanted.length > 0) await Promise.allSettled([add((writer) => writer.receiver.remove())]);
      await commits.flush();
      database.close();
    },
  };
}

/** Deliveries that one transaction looks at, so that a receiver on the same inbox never waits long. */
const batchRows = 500;

/** Runs a part of the work in a transaction. */
type Transact = <T>(work: () => T) => Promise<T>;

/**
 * Drops deliveries received before that time, but keeps the ids, and every lead that a target has not had, unless it is
 * dead. Resolves to the number of dropped deliveries.
 */
async function pruneDeliveries(database: Database, before: number, transact: Transact): Promise<number> {
  const batch = `SELECT seq, received_at, lead FROM deliveries WHERE seq > ?1 ORDER BY seq LIMIT ${batchRows}`;
  const end = database.prepare(`SELECT MAX(seq) AS seq FROM (${batch})`);
  const drop = database.prepare(
    `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM (${batch}) AS old WHERE received_at < ?2
     AND NOT EXISTS (SELECT 1 FROM work WHERE work.lead = old.lead AND done = 0 AND dead = 0))`,
  );
  // Of what a newer delivery is kept, that one can still be handed on.
  const deadBatch = `SELECT target, lead FROM work WHERE dead = 1 AND (target, lead) > (?1, ?2)
    ORDER BY target, lead LIMIT ${batchRows}`;
  const deadEnd = database.prepare(
    `SELECT target, lead FROM (${deadBatch}) ORDER BY target DESC, lead DESC LIMIT 1`,
  );
  const dropDead = database.prepare(
    `DELETE FROM work WHERE (lead, target) IN (SELECT lead, target FROM (${deadBatch}) AS old
     WHERE NOT EXISTS (SELECT 1 FROM leads JOIN deliveries USING (seq) WHERE id = old.lead)
     AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.lead = old.lead AND attempt > 1))`,
  );
  let dropped = 0;
  for (let start: number | null = 0; start !== null;) {
    const after: number = start;
    start = await transact(() => {
      const last = end.get([after])?.['seq'];
      if (typeof last !== 'number') return null;
      dropped += drop.run([after, before]).changes;
      return last;
    });
  }
  for (let after: readonly string[] | undefined = ['', '']; after !== undefined;) {
    const behind: readonly string[] = after;
    after = await transact(() => {
      const [last] = deadEnd.all(behind);
      dropDead.run(behind);
      return last && [textOf(last['target']), textOf(last['lead'])];
    });
  }
  return dropped;
}
