import type { TakenKind } from '../decide-verdict.ts';
import type {
  Arrival,
  DroppedRepeats,
  Inbox,
  InboxQuery,
  InboxReader,
  LeadQuery,
  LeaseState,
  Outstanding,
  RejectedDelivery,
  StoredDelivery,
  StoredLead,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { BatchCommit } from './batch-commit.ts';
import { checkIntegrity, type IntegrityCheck } from './check-integrity.ts';
import { FileIdentity } from './file-identity.ts';
import { endDeadLeases, leaseOwner } from './lease-owner.ts';
import type { Database } from './libsql.ts';
import { currentVersion } from './schema/migrations.ts';
import { openDatabase, openReadOnly } from './schema/open-database.ts';
import { pruneDeliveries } from './prune-deliveries.ts';
import { shrink } from './schema/shrink.ts';
import { cannotOpen, cannotWrite } from './sqlite-errors.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { type OpenedStore, SqliteWriter } from './sqlite-writer.ts';
import { StoreWarnings } from './store-warnings.ts';
import { nonceClockStart } from './tables/nonce-table.ts';
import { storeLabels, TargetNames } from './tables/target-names.ts';

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** Throws a `ConfigError` when the file is damaged, unreadable, or of another program or a newer version. */
export async function openSqliteInbox(options: StoreOptions): Promise<Inbox> {
  const database = await openDatabase(options.location, options.clock.now());
  try {
    await endDeadLeases(database, options.pid);
    const names = new TargetNames(database);
    storeLabels(database, names, options.targets);
    const opened = {
      names,
      owner: await leaseOwner(options.pid),
      nonceClockStart: nonceClockStart(database, options.clock.steady()),
    };
    return new SqliteInbox(database, options, opened, await checkIntegrity(options.location));
  } catch (error) {
    database.close();
    throw cannotOpen(options.location, error);
  }
}

/** The same for reading only: the file, which must exist, stays as it is. */
export async function openSqliteReader(location: string): Promise<InboxReader> {
  const { database, version } = await openReadOnly(location);
  try {
    return new SqliteReader(database, { location, version, wanted: [] });
  } catch (error) {
    database.close();
    throw cannotOpen(location, error);
  }
}

/** The default store: an embedded database, one transaction a batch, ids unique in the database itself. */
class SqliteInbox implements Inbox {
  readonly location: string;
  readonly #database: Database;
  readonly #reader: SqliteReader;
  readonly #commits: BatchCommit<SqliteWriter>;
  readonly #check: IntegrityCheck;
  readonly #warnings: StoreWarnings;
  #rejectedWaiting = 0;

  constructor(database: Database, options: StoreOptions, opened: OpenedStore, check: IntegrityCheck) {
    const { location, clock, targets } = options;
    this.location = location;
    this.#database = database;
    const wanted = targets.map((target) => opened.names.storedName(target));
    this.#reader = new SqliteReader(database, { location, version: currentVersion, wanted });
    this.#warnings = new StoreWarnings(new FileIdentity(location), options);
    this.#commits = new BatchCommit({
      database,
      createWriter: () => new SqliteWriter(database, options, opened),
      clock,
      verify: () => this.#warnings.verifyInPlace(),
    });
    this.#check = check;
    void check.found.then((damage) => damage !== undefined && this.#warnings.damaged(damage));
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add((writer) => arrivals.map((arrival) => writer.take(arrival)));
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

  release(leases: readonly TargetLease[]): Promise<void> {
    return this.#add((writer) => {
      for (const lease of leases) writer.release(lease);
    });
  }

  lease(leases: readonly TargetLease[]): Promise<readonly LeaseState[]> {
    return this.#add((writer) => leases.map((lease) => writer.lease(lease)));
  }

  async *unsettled(target: string): AsyncGenerator<StoredRef> {
    yield* await this.#add((writer) => writer.leases.unsettledLeads(target));
  }

  outstanding(): Promise<readonly Outstanding[]> {
    return this.#reader.outstanding();
  }

  list(query: InboxQuery): AsyncIterable<StoredDelivery> {
    return this.#reader.list(query);
  }

  leads(query: LeadQuery): AsyncIterable<StoredLead> {
    return this.#reader.leads(query);
  }

  droppedRepeats(leadId: string): Promise<DroppedRepeats> {
    return this.#reader.droppedRepeats(leadId);
  }

  has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#reader.has(leadIds);
  }

  prune(before: number): Promise<number> {
    return pruneDeliveries(this.#database, before, (work) => this.#add(work));
  }

  compact(): Promise<void> {
    try {
      shrink(this.#database);
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(cannotWrite(this.location, error));
    }
  }

  async close(): Promise<void> {
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
      throw cannotWrite(this.location, error);
    }
  }
}
