import { DataError } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { Driver, Start } from '../driver.ts';
import { CannotStoreError } from '../inbox.ts';
import type { InboxProblem, NotOverwritten } from '../problems.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { numberOf, type Query, type Rows, sql, type Work } from '../sql/statement.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { FileHealth, FileIdentity } from './file-health.ts';
import { type Database, Statements } from './libsql.ts';
import { notOverwritten, openDatabase, openReadOnly, overwriteFile, shrink } from './open-database.ts';
import { cannotOpen, cannotRead, cannotWrite, isBusy, sqliteCode } from './sqlite-errors.ts';

type Options = Pick<StoreOptions, 'location' | 'clock' | 'warn'>;

/** Opens the file, and makes it where there is none. Throws a `ConfigError` that says why it cannot. */
export async function openSqliteDriver(options: StoreOptions): Promise<SqliteDriver> {
  const database = await openDatabase(options.location, options);
  const health = options.location === inMemory ? undefined : new FileHealth(options);
  return new SqliteDriver(database, options, health);
}

/** The same for reading only: the file, which must exist, stays as it is. */
export async function openSqliteReadOnly(location: string, clock: Clock): Promise<SqliteDriver> {
  const database = await openReadOnly(location);
  return new SqliteDriver(database, { location, clock, warn: () => undefined }, undefined);
}

/** These hold for the whole database: a smaller transaction would fail with the same. */
const wholeDatabaseCodes = /^SQLITE_(FULL|READONLY|NOTADB|CANTOPEN|PROTOCOL|BUSY|LOCKED)/;

/** An embedded database. Once it is open, nothing here blocks the event loop while another process writes. */
class SqliteDriver implements Driver {
  readonly location: string;
  readonly dialect = sqliteDialect;
  readonly outOfReach: Driver['outOfReach'];
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #health: FileHealth | undefined;
  /** Which file the path led to when it was opened. */
  readonly #file: FileIdentity | undefined;
  #statements: Statements;

  constructor(database: Database, { location, clock }: Options, health: FileHealth | undefined) {
    this.location = location;
    this.outOfReach = location === inMemory ? [] : ['snapshots'];
    this.#database = database;
    this.#clock = clock;
    this.#health = health;
    this.#file = location === inMemory ? undefined : new FileIdentity(location);
    this.#statements = new Statements(database);
  }

  now(): Query {
    return sql`${this.#clock.now()}`;
  }

  /** Disables SQLite's busy handler, which would block the event loop: a locked write fails, and the store repeats it. */
  failWhereLocked(): void {
    this.#database.prepare('PRAGMA busy_timeout = 0').all([]);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what is thrown rejects
  async write<T>(work: (start: Start) => Work<T>): Promise<T> {
    let result: T;
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const [meta] = this.#statements.run(sql`SELECT seq FROM @meta`);
      result = this.#run(work({ seq: numberOf(meta?.['seq']), now: this.#clock.now() }));
      this.#database.exec('COMMIT');
    } catch (error) {
      throw this.#rollBack() ?? error;
    }
    this.#health?.verifyInPlace();
    return result;
  }

  isLocked(error: unknown): boolean {
    return sqliteCode(error).startsWith('SQLITE_BUSY');
  }

  isOfData(error: unknown): boolean {
    return !(error instanceof CannotStoreError) && !wholeDatabaseCodes.test(sqliteCode(error));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what is thrown rejects
  async read(query: Query): Promise<Rows> {
    try {
      return this.#statements.run(query);
    } catch (error) {
      this.#statements = new Statements(this.#database);
      throw error;
    }
  }

  openError(error: unknown): Error {
    return cannotOpen(this.location, error);
  }

  writeError(error: unknown): Error {
    this.#health?.failed(error);
    return cannotWrite(this.location, error);
  }

  readError(error: unknown): unknown {
    this.#health?.failed(error);
    return cannotRead(this.location, error);
  }

  /** The number of what other connections have committed, and of what this one has written. */
  async changeMark(): Promise<string> {
    this.#verifyInPlace();
    const [row] = await this.read(sql`SELECT data_version, total_changes() AS own FROM pragma_data_version`);
    return `${numberOf(row?.['data_version'])} ${numberOf(row?.['own'])}`;
  }

  async checkReadable(): Promise<void> {
    this.#verifyInPlace();
    await this.read(sql`SELECT MAX(seq) FROM @deliveries`);
  }

  async checkRoom(): Promise<void> {
    await this.#health?.checkRoom();
  }

  beginErasure(): void {
    this.#database.prepare('PRAGMA secure_delete = ON').all([]);
  }

  async overwrite(): ReturnType<Driver['overwrite']> {
    const { location, outOfReach } = this;
    if (location === inMemory) return { remains: undefined, outOfReach };
    return { remains: await overwriteFile(this.#database, location, this.#clock), outOfReach };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what is thrown rejects
  async compact(): Promise<NotOverwritten | undefined> {
    const failed = this.location === inMemory ? undefined : shrink(this.#database);
    if (failed === undefined) return undefined;
    if (isBusy(failed) || sqliteCode(failed).startsWith('SQLITE_FULL')) {
      return notOverwritten(this.location, failed);
    }
    throw failed as Error;
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }

  #run<T>(work: Work<T>): T {
    for (let step = work.next([]); ;) {
      if (step.done === true) return step.value;
      step = work.next(step.value.map((statement) => this.#statements.run(statement)));
    }
  }

  /** The database may have rolled back by itself, as it does when the disk is full. Returns what failed now. */
  #rollBack(): unknown {
    // A statement that has thrown may throw for ever.
    this.#statements = new Statements(this.#database);
    try {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      return undefined;
    } catch (secondError) {
      // That the rollback failed, too, is the more serious error.
      return secondError;
    }
  }

  /** A file that is gone can still be read by those who have it open, and never changes again. */
  #verifyInPlace(): void {
    const change = this.#file?.change();
    if (change === undefined) return;
    throw new DataError({
      kind: 'inbox-file-changed',
      inbox: this.location,
      ...change,
    } satisfies InboxProblem);
  }
}

export type { SqliteDriver };
