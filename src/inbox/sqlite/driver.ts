import { statSync } from 'node:fs';
import { messageOf, type Problem } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { Driver, WriteFailure } from '../driver.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { numberOf, type Rows, type Value } from '../sql/row.ts';
import { type Insertion, Query, sql, type Start, metaColumns, startOf, type Work } from '../sql/statement.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { FileHealth } from './file-health.ts';
import type { Database, Statement } from './libsql.ts';
import { openDatabase, openReadOnly } from './open-database.ts';
import { notOverwritten, overwriteFile, shrink } from './overwrite-file.ts';
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
    this.#verifyReadable();
    const [row] = await this.read(sql`SELECT data_version, total_changes() AS own FROM pragma_data_version`);
    return `${numberOf(row?.['data_version'])} ${numberOf(row?.['own'])}`;
  }

  async checkReadable(): Promise<void> {
    this.#verifyReadable();
    await this.read(sql`SELECT MAX(seq) FROM @deliveries`);
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

  // eslint-disable-next-line @typescript-eslint/require-await -- what is thrown rejects
  async compact(): Promise<Problem | undefined> {
    const failure = this.location === inMemory ? undefined : shrink(this.#database);
    if (failure === undefined) return undefined;
    const mayWorkLater = isBusy(failure) || sqliteCode(failure).startsWith('SQLITE_FULL');
    if (!mayWorkLater) throw this.writeFailure(failure).error;
    return notOverwritten(this.location, failure);
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

  /** A reader that has a deleted file open would read it without an error, and never see a change. */
  #verifyReadable(): void {
    try {
      this.#verifyInPlace();
    } catch (error) {
      throw cannotRead(this.location, error);
    }
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

/**
 * Runs the statements of one connection. Each is prepared at its first use, and found by its text later. After a failure this object is
 * replaced, since a prepared statement of libsql that has thrown may throw in every later call.
 */
export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, { readonly statement: Statement; readonly reads: boolean }>();
  readonly #insertions = new Map<string, RowInsertion>();

  constructor(database: Database) {
    this.#database = database;
  }

  run(statement: Query | Insertion): Rows {
    if (!(statement instanceof Query)) {
      this.#insert(statement);
      return [];
    }
    let prepared = this.#prepared.get(statement.text);
    if (prepared === undefined) {
      const text = statement.text.replaceAll('@', '');
      prepared = { statement: this.#database.prepare(text), reads: /^\s*SELECT/.test(text) };
      this.#prepared.set(statement.text, prepared);
    }
    if (prepared.reads) return prepared.statement.all(statement.values);
    prepared.statement.run(statement.values);
    return [];
  }

  #insert({ into, rows }: Insertion): void {
    let insertion = this.#insertions.get(into);
    if (insertion === undefined) {
      insertion = new RowInsertion(this.#database, into);
      this.#insertions.set(into, insertion);
    }
    insertion.insert(rows);
  }
}

/** The most rows that one statement inserts: a power of two. */
const maxRows = 32;

const maxPrepared = 32;

/**
 * Inserts rows of one table, several with one statement, since to run a statement costs more than to insert a row. To pass a value costs
 * as much: a value that all rows of a statement have in a column is passed once.
 */
class RowInsertion {
  readonly #database: Database;
  readonly #table: string;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database, table: string) {
    this.#database = database;
    this.#table = table;
  }

  insert(rows: readonly (readonly Value[])[]): void {
    for (let start = 0, count = maxRows; start < rows.length; start += count) {
      while (count > rows.length - start) count /= 2;
      this.#insertTogether(rows.slice(start, start + count));
    }
  }

  /** The values that all rows share come first, then the other values of each row. */
  #insertTogether(rows: readonly (readonly Value[])[]): void {
    const [first = []] = rows;
    const isShared = first.map((value, column) => rows.every((row) => row[column] === value));
    const sharedValues = first.filter((_, column) => isShared[column] === true);
    const values = rows.flatMap((row) => row.filter((_, column) => isShared[column] === false));
    this.#statement(rows.length, isShared).run([...sharedValues, ...values]);
  }

  #statement(rowCount: number, isShared: readonly boolean[]): Statement {
    const key = `${rowCount} ${isShared.map(Number).join('')}`;
    const statement = this.#prepared.get(key);
    if (statement !== undefined) return statement;
    let lastNumber = isShared.filter(Boolean).length;
    const rows = Array.from({ length: rowCount }, () => {
      let lastShared = 0;
      const parameters = isShared.map((shared) => `?${shared ? (lastShared += 1) : (lastNumber += 1)}`);
      return `(${parameters.join()})`;
    });
    const prepared = this.#database.prepare(`INSERT INTO ${this.#table} VALUES ${rows.join()}`);
    if (this.#prepared.size === maxPrepared) this.#prepared.clear();
    this.#prepared.set(key, prepared);
    return prepared;
  }
}

export type { SqliteDriver };
