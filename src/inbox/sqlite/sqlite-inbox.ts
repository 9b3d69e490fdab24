import { GroupCommit } from '../../files/group-commit.ts';
import type { TakenKind } from '../decide.ts';
import type {
  Arrival,
  Inbox,
  InboxQuery,
  RejectedDelivery,
  StoredDelivery,
  StoredLead,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { toColumn } from './column.ts';
import { openDatabase } from './open-database.ts';
import { endDeadLeases, leaseOwner } from './lease-owner.ts';
import type { Database } from './libsql.ts';
import { pruneDeliveries } from './prune-deliveries.ts';
import { deliveries, leads } from './reader.ts';
import { cannotOpen, cannotWrite } from './sqlite-errors.ts';
import { SqliteWriter } from './sqlite-writer.ts';

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** A part of a transaction; what it returns is the caller's result. */
type Step = (writer: SqliteWriter) => unknown;

/** Throws a `ConfigError` when the file is damaged, unreadable, or of another program or a newer version. */
export async function openSqliteInbox(options: StoreOptions): Promise<Inbox> {
  const database = await openDatabase(options.location);
  try {
    await endDeadLeases(database, options.pid);
    return new SqliteInbox(database, options, await leaseOwner(options.pid));
  } catch (error) {
    database.close();
    throw cannotOpen(options.location, error);
  }
}

/** The default store: an embedded database, one transaction a batch, ids unique in the database itself. */
class SqliteInbox implements Inbox {
  readonly location: string;
  readonly #database: Database;
  readonly #clock: StoreOptions['clock'];
  readonly #writer: SqliteWriter;
  readonly #group = new GroupCommit<Step, unknown>((steps) => this.#commit(steps));
  #rejectedWaiting = 0;

  constructor(database: Database, options: StoreOptions, owner: string) {
    this.location = options.location;
    this.#database = database;
    this.#clock = options.clock;
    this.#writer = new SqliteWriter(database, options, owner);
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

  async *unsettled(target: string): AsyncGenerator<StoredRef> {
    yield* this.#writer.leases.unsettledLeads(target);
    await Promise.resolve();
  }

  list(query: InboxQuery): AsyncIterable<StoredDelivery> {
    return deliveries(this.#database, query);
  }

  leads(query: Pick<InboxQuery, 'since' | 'until'>): AsyncIterable<StoredLead> {
    return leads(this.#database, query);
  }

  has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { leads: table } = this.#writer;
    return Promise.resolve(new Set(leadIds.filter((leadId) => table.isAccepted(toColumn(leadId)))));
  }

  async prune(before: number): Promise<number> {
    try {
      return await pruneDeliveries(this.#database, before);
    } catch (error) {
      throw cannotWrite(this.location, error);
    }
  }

  async close(): Promise<void> {
    await this.#group.flush();
    this.#database.close();
  }

  #add<T>(step: (writer: SqliteWriter) => T): Promise<T> {
    return this.#group.add(step) as Promise<T>;
  }

  #commit(steps: readonly Step[]): readonly unknown[] {
    const now = this.#clock.now();
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#writer.begin(now);
      const results = steps.map((step) => step(this.#writer));
      this.#writer.end();
      this.#database.exec('COMMIT');
      return results;
    } catch (error) {
      try {
        this.#rollBack();
      } catch (secondError) {
        // The database is worse off than the first error says.
        throw cannotWrite(this.location, secondError);
      }
      throw cannotWrite(this.location, error);
    }
  }

  /** The database may have rolled back by itself, as it does when the disk is full. */
  #rollBack(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
  }
}
