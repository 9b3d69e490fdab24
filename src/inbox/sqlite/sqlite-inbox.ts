import type { Inbox, InboxReader } from '../inbox.ts';
import type { OutOfReach } from '../problems.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { BatchCommit } from './batch-commit.ts';
import { nonceClockStart } from './delivery-tables.ts';
import { bodiesWithIds, eraseLeads } from './erased-leads.ts';
import { FileHealth } from './file-health.ts';
import { storedNamesOf, storeLabels, WaitingLeads } from './forward-rows.ts';
import { type Database, Statements } from './libsql.ts';
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

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** Of erased data. */
const outOfReach: readonly OutOfReach[] = ['snapshots'];

/** Throws a `ConfigError` when the file is damaged, unreadable, or of another program or a newer version. */
export async function openSqliteInbox(options: StoreOptions): Promise<Inbox> {
  const { location, clock, targets } = options;
  const database = await openDatabase(location, options.warn);
  try {
    const storedName = storedNamesOf(database);
    const newTargets = storeLabels(database, storedName, targets);
    const opened = { storedName, nonceClockStart: nonceClockStart(database, clock.steady()) };
    failWhereLocked(database);
    return { ...sqliteInbox(database, options, opened), newTargets };
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The same for reading only: the file, which must exist, stays as it is. */
export async function openSqliteReader(location: string): Promise<InboxReader> {
  const database = await openReadOnly(location);
  try {
    return sqliteReader(database, { location, own: [] });
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The default store: an embedded database, one transaction a batch, ids unique in the database itself. */
function sqliteInbox(
  database: Database,
  options: StoreOptions,
  opened: OpenedStore,
): Omit<Inbox, 'newTargets'> {
  const { location, clock, onCommit } = options;
  const own = options.targets.map(opened.storedName);
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
  const waitingLeads = new WaitingLeads(new Statements(database));
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
    ...sqliteReader(database, { location, own }),
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
    claim: (target, most, withinMs = 0) =>
      addReading((writer) => writer.claim(target, most, clock.now() + withinMs)),
    claimLeads: (leadIds, target) =>
      addReading((writer) => leadIds.map((leadId) => writer.claimLead(leadId, target))),
    record: (records) =>
      addReading((writer) => {
        for (const record of records) writer.record(record);
      }),
    async nextDueIn(target) {
      const at = await reading(() => waitingLeads.nextDueAt(opened.storedName(target)));
      return at === undefined ? undefined : at - clock.now();
    },
    giveUp: (target, afterMs) => addReading((writer) => writer.giveUp(target, afterMs)),
    makeDue: (leadIds) =>
      addReading((writer) => leadIds.filter((leadId) => writer.makeDue(leadId)).length),
    async *waiting(target) {
      const names =
        target === undefined ? await reading(() => waitingLeads.targets()) : [opened.storedName(target)];
      for (const name of names) {
        for (let after: string | undefined = ''; after !== undefined;) {
          const start: string = after;
          const { refs, last } = await reading(() => waitingLeads.page(name, start));
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
    backlog: () => waitingLeads.backlog(own),
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
      await commits.flush();
      database.close();
    },
  };
}

/** Deliveries that one transaction looks at, so that a receiver on the same inbox never waits long. */
const batchRows = 500;

/** Runs a part of the work in a transaction. */
type Transact = <T>(work: () => T) => Promise<T>;

/** Drops deliveries received before that time, but keeps the ids, and every lead that waits for a target. */
async function pruneDeliveries(database: Database, before: number, transact: Transact): Promise<number> {
  const batch = `SELECT seq, received_at, lead FROM deliveries WHERE seq > ?1 ORDER BY seq LIMIT ${batchRows}`;
  const old = `SELECT seq, lead FROM (${batch}) AS batch WHERE received_at < ?2
    AND NOT EXISTS (SELECT 1 FROM forwards WHERE forwards.lead = batch.lead AND state = 'waiting')`;
  const end = database.prepare(`SELECT MAX(seq) AS seq FROM (${batch})`);
  // What is dead cannot be sent any more once its delivery is gone.
  const forget = database.prepare(
    `DELETE FROM forwards WHERE state = 'dead' AND (lead, seq) IN (SELECT lead, seq FROM (${old}))`,
  );
  const drop = database.prepare(`DELETE FROM deliveries WHERE seq IN (SELECT seq FROM (${old}))`);
  let dropped = 0;
  for (let start: number | null = 0; start !== null;) {
    const after: number = start;
    start = await transact(() => {
      const last = end.get([after])?.['seq'];
      if (typeof last !== 'number') return null;
      forget.run([after, before]);
      dropped += drop.run([after, before]).changes;
      return last;
    });
  }
  return dropped;
}
