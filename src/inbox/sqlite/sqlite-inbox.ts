import type { TakenKind } from '../decide-verdict.ts';
import type { Erased, Erasure } from '../erase/erasure.ts';
import type {
  Arrival,
  Inbox,
  InboxReader,
  LeaseState,
  RejectedDelivery,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { Backlog } from '../inbox-monitor.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { BatchCommit } from './batch-commit.ts';
import { bodiesWithIds } from './erase/bodies-with-ids.ts';
import { eraseLeads } from './erase/erase-leads.ts';
import { overwriteFile } from './erase/overwrite-file.ts';
import { checkIntegrity, type IntegrityCheck } from './check-integrity.ts';
import { FileIdentity } from './file/file-identity.ts';
import { toColumn } from './column.ts';
import { endDeadLeases, leaseOwner, removeDeadReceivers } from './lease-owner.ts';
import type { Database } from './libsql.ts';
import { currentVersion } from './schema/migrations.ts';
import { failWhereLocked, openDatabase, openReadOnly } from './schema/open-database.ts';
import { pruneDeliveries } from './prune-deliveries.ts';
import { RoomCheck } from './file/room-check.ts';
import { isOverwriteDue, shrink } from './schema/shrink.ts';
import { cannotOpen, cannotWrite } from './sqlite-errors.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { type OpenedStore, SqliteWriter } from './sqlite-writer.ts';
import { StoreWarnings } from './store-warnings.ts';
import { readBacklog } from './tables/backlog.ts';
import { nonceClockStart } from './tables/nonce-table.ts';
import { ReceiverTable } from './tables/receiver-table.ts';
import { unsettledPage } from './tables/target-leases.ts';
import { storeLabels, TargetNames } from './tables/target-names.ts';

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
