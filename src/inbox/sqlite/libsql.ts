import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../errors.ts';
import type { Row, Rows, Value } from '../sql/row.ts';
import { type Insertion, Query } from '../sql/statement.ts';

/** The part of libsql that is used here; the types of the package declare members that it does not have. */
export interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/**
 * Values are always passed as one array, since libsql reads a lone object as named parameters. A statement whose `get` has thrown
 * throws in every later call.
 */
export interface Statement {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  all(values: readonly Value[]): Row[];
}

/** `timeout`: how long a transaction waits for that of another process, in milliseconds, while the event loop is blocked. */
type OpenDatabase = new (path: string, options: { timeout: number }) => Database;

/** The version that this release is tested with; npm leaves the package out under `--omit=optional`. */
export const libsqlVersion = '0.5.29';

/** Loads the native module. Rejects with a `ConfigError` where it is not installed. */
export async function loadLibsql(
  load: () => Promise<unknown> = () => import('libsql'),
): Promise<OpenDatabase> {
  try {
    return ((await load()) as { readonly default: OpenDatabase }).default;
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown };
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError('the package libsql is not installed, or not for this platform', {
      hint: `npm install libsql@${libsqlVersion}, with --global where leads was installed so`,
      cause: error,
    });
  }
}

export const readOnlyUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro`;

/** The URL of a file to which no process writes, for a directory in which SQLite cannot make files. A `-wal` beside it is not read. */
export const immutableUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro&immutable=1`;

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
  readonly #prepared = new Map<number, Statement>();

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
    const values = first.filter((_, column) => isShared[column] === true);
    for (const row of rows) {
      for (let column = 0; column < row.length; column += 1) {
        if (isShared[column] !== true) values.push(row[column] ?? null);
      }
    }
    this.#statement(rows.length, isShared).run(values);
  }

  #statement(rowCount: number, isShared: readonly boolean[]): Statement {
    const columnBits = isShared.reduce((bits, shared) => bits * 2 + Number(!shared), 0);
    const key = columnBits * (maxRows + 1) + rowCount;
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
