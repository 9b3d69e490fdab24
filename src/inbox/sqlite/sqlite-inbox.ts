import type { TakenKind } from '../decide-verdict.ts';
import type {
  Arrival,
  Backlog,
  Erased,
  Erasure,
  Inbox,
  InboxReader,
  LeaseState,
  RejectedDelivery,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { StoreOptions } from '../store-options.ts';
import { BatchCommit } from './batch-commit.ts';
import { nonceClockStart } from './delivery-tables.ts';
import { bodiesWithIds, eraseLeads } from './erased-leads.ts';
import {
  checkIntegrity,
  FileIdentity,
  type IntegrityCheck,
  RoomCheck,
  StoreWarnings,
} from './file-health.ts';
import { type Database, toColumn } from './libsql.ts';
import { currentVersion } from './migrations.ts';
import {
  failWhereLocked,
  isOverwriteDue,
  openDatabase,
  openReadOnly,
  overwriteFile,
  shrink,
} from './open-database.ts';
import { cannotOpen, cannotWrite } from './sqlite-errors.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { type OpenedStore, SqliteWriter } from './sqlite-writer.ts';
import {
  endDeadLeases,
  leaseOwner,
  readBacklog,
  ReceiverTable,
  removeDeadReceivers,
  storeLabels,
  TargetNames,
  unsettledPage,
} from './target-tables.ts';

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** Of erased data. */
const outOfReach = ['snapshots of the file system, and what it keeps of blocks that it freed'];

/** Throws a `ConfigError` when the file is damaged, unreadable, or of another program or a newer version. */
export async function openSqliteInbox(options: StoreOptions): Promise<Inbox> {
  const { location, clock, pid, targets } = options;
  const database = await openDatabase(location, clock.now());
  try {
    await endDeadLeases(database, pid);
    await removeDeadReceivers(database, pid, clock.now());
    const names = new TargetNames(database);
    storeLabels(database, names, [...targets, ...(options.onDemand ?? [])]);
    const wanted = targets.map((target) => names.storedName(target));
    const owner = await leaseOwner(pid);
    new ReceiverTable(database, owner).add(wanted, clock.now());
    const opened = { names, owner, nonceClockStart: nonceClockStart(database, clock.steady()) };
    failWhereLocked(database);
    return new SqliteInbox(database, options, opened, await checkIntegrity(location));
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The same for reading only: the file, which must exist, stays as it is. */
export async function openSqliteReader(location: string): Promise<InboxReader> {
  const { database, version } = await openReadOnly(location);
  try {
    return new SqliteReader(database, { location, version, wanted: [], owner: '' });
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The default store: an embedded database, one transaction a batch, ids unique in the database itself. */
class SqliteInbox extends SqliteReader implements Inbox {
  readonly #database: Database;
  readonly #clock: StoreOptions['clock'];
  readonly #commits: BatchCommit<SqliteWriter>;
  readonly #check: IntegrityCheck;
  readonly #warnings: StoreWarnings;
  readonly #hasTargets: boolean;
  readonly #room: RoomCheck;
  /** Stored names of the targets. */
  readonly #wanted: readonly string[];
  #rejectedWaiting = 0;

  constructor(database: Database, options: StoreOptions, opened: OpenedStore, check: IntegrityCheck) {
    const { location, clock } = options;
    const wanted = options.targets.map((target) => opened.names.storedName(target));
    super(database, { location, version: currentVersion, wanted, owner: opened.owner });
    this.#database = database;
    this.#clock = clock;
    this.#hasTargets = options.targets.length > 0;
    this.#wanted = wanted;
    this.#room = new RoomCheck(location);
    this.#warnings = new StoreWarnings(new FileIdentity(location), options);
    this.#commits = new BatchCommit({
      database,
      createWriter: () => new SqliteWriter(database, options, opened),
      clock,
      verify: () => this.#warnings.verifyInPlace(),
      onCommit: options.onCommit,
    });
    this.#check = check;
    void check.found.then((damage) => damage !== undefined && this.#warnings.damaged(damage));
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add((writer) => writer.take(arrivals));
  }

  async reject(rejected: readonly RejectedDelivery[]): Promise<void> {
    // Of a flood only the newest would stay anyway; losing some of it harms nobody.
    if (this.#rejectedWaiting >= maxRejectedWaiting) return;
    this.#rejectedWaiting += rejected.length;
    try {
      await this.#add((writer) => {
        for (const one of rejected) writer.reject(one);
      });
    } finally {
      this.#rejectedWaiting -= rejected.length;
    }
  }

  settle(leases: readonly TargetLease[]): Promise<readonly TakenKind[]> {
    return this.#add((writer) => leases.map((lease) => writer.settle(lease)));
  }

  settleMoved(leases: readonly TargetLease[]): Promise<readonly (string | undefined)[]> {
    return this.#add((writer) => leases.map((lease) => writer.settleMoved(lease)));
  }

  release(leases: readonly TargetLease[]): Promise<void> {
    return this.#add((writer) => {
      for (const lease of leases) writer.release(lease);
    });
  }

  lease(leases: readonly TargetLease[]): Promise<readonly LeaseState[]> {
    return this.#add((writer) => leases.map((lease) => writer.lease(lease)));
  }

  async *unsettled(target: string): AsyncGenerator<StoredRef> {
    for (let after = ''; ;) {
      const page = await this.#add((writer) => writer.leases.unsettledLeads(target, after));
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < unsettledPage) return;
      after = toColumn(last.leadId);
    }
  }

  async checkWritable(): Promise<void> {
    // Each transaction writes its counter, an empty one, too.
    await this.#add(() => undefined);
    await this.#room.check();
  }

  backlog(): Promise<readonly Backlog[]> {
    return readBacklog(this.#database, this.#wanted);
  }

  prune(before: number): Promise<number> {
    return pruneDeliveries(this.#database, before, (work) => this.#add(work));
  }

  async erase(erasure: Erasure): Promise<Erased> {
    // It reads the whole file, which keeps the log as it is.
    this.#check.stop();
    await this.#check.found;
    this.#database.prepare('PRAGMA secure_delete = ON').all([]);
    const holding = bodiesWithIds(this.#database, erasure.leadIds);
    const counts = await this.#add((writer) => eraseLeads(this.#database, erasure, writer.erased, holding));
    if (!isOverwriteDue.get(this.#database)) return { ...counts, remains: undefined, outOfReach };
    const remains = await overwriteFile(this.#database, this.#clock);
    if (remains === undefined) await this.#add(() => isOverwriteDue.set(this.#database, false));
    return { ...counts, remains, outOfReach };
  }

  compact(): Promise<void> {
    try {
      shrink(this.#database);
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(cannotWrite(this.location, error));
    }
  }

  override async close(): Promise<void> {
    // Where that cannot be written, the next one to open the inbox finds this receiver dead.
    if (this.#hasTargets) await Promise.allSettled([this.#add((writer) => writer.receivers.remove())]);
    await this.#commits.flush();
    this.#check.stop();
    await this.#check.found;
    this.#database.close();
  }

  async #add<T>(step: (writer: SqliteWriter) => T): Promise<T> {
    try {
      return await this.#commits.add(step);
    } catch (error) {
      this.#warnings.failed(error);
      this.#room.failed(error);
      throw cannotWrite(this.location, error);
    }
  }
}

/** Deliveries that one transaction looks at, so that a receiver on the same inbox never waits long. */
const batchRows = 500;

/** Runs a part of the work in a transaction. */
type Transact = <T>(work: () => T) => Promise<T>;

/**
 * Drops deliveries received before that time, but keeps the ids, and every lead that a target has not had. Resolves to
 * the number of dropped deliveries.
 */
async function pruneDeliveries(database: Database, before: number, transact: Transact): Promise<number> {
  const batch = `SELECT seq, received_at, lead FROM deliveries WHERE seq > ?1 ORDER BY seq LIMIT ${batchRows}`;
  const end = database.prepare(`SELECT MAX(seq) AS seq FROM (${batch})`);
  const drop = database.prepare(
    `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM (${batch}) AS old WHERE received_at < ?2
     AND NOT EXISTS (SELECT 1 FROM work WHERE work.lead = old.lead AND done = 0))`,
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
  return dropped;
}
