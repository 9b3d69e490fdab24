import { statSync } from 'node:fs';
import { messageOf, type Problem } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { Driver, WriteFailure } from '../driver.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { numberOf, type Rows } from '../sql/row.ts';
import { Query, sql, type Start, metaColumns, startOf, type Work } from '../sql/statement.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { FileHealth } from './file-health.ts';
import { type Database, Statements } from './libsql.ts';
import { openDatabase, openReadOnly } from './open-database.ts';
import { cutOffFreePages, notOverwritten, overwriteFile } from './overwrite-file.ts';
import { cannotOpen, cannotRead, cannotWrite, FileFault, isBusy, sqliteCode } from './sqlite-errors.ts';

type Options = Pick<StoreOptions, 'location' | 'clock' | 'warn'>;

export async function openSqliteDriver(options: Options): Promise<SqliteDriver> {
  return new SqliteDriver(await openDatabase(options.location, options), options);
}

export async function openSqliteReadOnly(location: string, clock: Clock): Promise<SqliteDriver> {
  return new SqliteDriver(await openReadOnly(location), { location, clock, warn: () => undefined });
}

/** With these codes a smaller transaction would fail as well. */
const wholeDatabaseCodes = /^SQLITE_(FULL|READONLY|NOTADB|CANTOPEN|PROTOCOL|BUSY|LOCKED)/;

/** An inbox in a file. Each call blocks the event loop until SQLite has answered. */
class SqliteDriver implements Driver {
  readonly location: string;
  readonly dialect = sqliteDialect;
  readonly outOfReach: Driver['outOfReach'];
  readonly #database: Database;
  readonly #options: Options;
  readonly #health: FileHealth;
  readonly #openedFile: string | undefined;
  /** The file was deleted or replaced since it was opened: every later write fails. */
  #lostFile: FileFault | undefined;
  #statements: Statements;

  constructor(database: Database, options: Options) {
    this.location = options.location;
    this.outOfReach =
      this.location === inMemory
        ? []
        : ['snapshots of the file system, and what it keeps of blocks that it freed'];
    this.#database = database;
    this.#options = options;
    this.#health = new FileHealth(options);
    this.#openedFile = fileIdAt(this.location);
    this.#statements = new Statements(database);
  }

  now(): Query {
    return sql`${this.#options.clock.now()}`;
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
      const [meta] = this.#statements.run(startQuery);
      result = this.#run(work(startOf(meta, this.#options.clock.now())));
      this.#database.exec('COMMIT');
    } catch (error) {
      throw this.#rollBack() ?? error;
    }
    this.#verifyInPlace();
    return result;
  }

  writeFailure(error: unknown): WriteFailure {
    const code = sqliteCode(error);
    if (code.startsWith('SQLITE_BUSY')) return { error: cannotWrite(this.location, error), cause: 'locked' };
    this.#health.noteFailure(error);
    const isOfDatabase = error instanceof FileFault || wholeDatabaseCodes.test(code);
    return { error: cannotWrite(this.location, error), cause: isOfDatabase ? 'database' : 'data' };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what is thrown rejects
  async read(query: Query): Promise<Rows> {
    try {
      return this.#statements.run(query);
    } catch (error) {
      this.#statements = new Statements(this.#database);
      this.#health.noteFailure(error);
      throw cannotRead(this.location, error);
    }
  }

  openError(error: unknown): Error {
    return cannotOpen(this.location, error);
  }

  /** The number of what other connections have committed, and of what this one has written. */
  async changeMark(): Promise<string> {
    try {
      // A reader that has a deleted file open would read it without an error, and never see a change.
      this.#verifyInPlace();
    } catch (error) {
      throw cannotRead(this.location, error);
    }
    const [row] = await this.read(sql`SELECT data_version, total_changes() AS own,
      (SELECT MAX(seq) FROM @deliveries) FROM pragma_data_version`);
    return `${numberOf(row?.['data_version'])} ${numberOf(row?.['own'])}`;
  }

  checkWritable(): Promise<void> {
    return this.#health.checkRoom();
  }

  beginErasure(): void {
    this.#database.prepare('PRAGMA secure_delete = ON').all([]);
  }

  async overwrite(): ReturnType<Driver['overwrite']> {
    const { location, outOfReach } = this;
    if (location === inMemory) return { remains: undefined, outOfReach };
    return { remains: await overwriteFile(this.#database, location, this.#options.clock), outOfReach };
  }

  async compact(): Promise<Problem | undefined> {
    try {
      if (this.location !== inMemory) await cutOffFreePages(this.#database, this.#options.clock);
      return undefined;
    } catch (error) {
      const mayWorkLater = isBusy(error) || sqliteCode(error).startsWith('SQLITE_FULL');
      if (!mayWorkLater) throw this.writeFailure(error).error;
      return notOverwritten(this.location, error);
    }
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

  /** Rolls back unless the database has, as when the disk is full. Returns the error of that, which is more serious than the one before. */
  #rollBack(): unknown {
    this.#statements = new Statements(this.#database);
    try {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      return undefined;
    } catch (rollbackError) {
      return rollbackError;
    }
  }

  /**
   * The system lets others delete or replace a file that is in use; data that is then written to it is lost when the process ends. Throws
   * a `FileFault`: from then on in every call, but only once where the disk does not tell whether that happened.
   */
  #verifyInPlace(): void {
    if (this.#lostFile === undefined) {
      const { location: path } = this;
      const file = fileIdAt(path);
      if (file === this.#openedFile) return;
      const change = file === undefined ? 'deleted or moved' : 'replaced';
      const hint = 'start leads again to use what is there now';
      this.#lostFile = new FileFault(`${path} was ${change} while in use`, { hint });
      this.#options.warn({
        kind: 'inbox-file-lost',
        message:
          `${path} was ${change} while it was in use: every delivery is answered 503 until this receiver is restarted, ` +
          'and what was stored before is only in the file that is gone',
      });
    }
    throw this.#lostFile;
  }
}

const startQuery = new Query(`SELECT ${metaColumns} FROM @meta`);

/** Device and inode of the file to which a path leads; undefined where it leads to none. Throws a `FileFault`. */
function fileIdAt(path: string): string | undefined {
  if (path === inMemory) return undefined;
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
  } catch (error) {
    throw new FileFault(messageOf(error), { cause: error });
  }
}

export type { SqliteDriver };
