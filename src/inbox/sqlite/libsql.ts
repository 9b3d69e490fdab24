import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../errors.ts';
import type { FileProblem } from '../../files/problems.ts';
import { type Insertion, Query, type Row, type Rows, type Value } from '../sql/statement.ts';

/** The part of libsql that is used here; its own types promise more than it has. */
export interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/**
 * Values always go in as one array: a lone object would be read as named parameters. A statement whose `get` has thrown
 * throws in every later call.
 */
export interface Statement {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  all(values: readonly Value[]): Row[];
}

/** `timeout`: how long a transaction waits for another process's, in milliseconds, without an event loop. */
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
    const problem: FileProblem = { kind: 'libsql-not-installed', version: libsqlVersion };
    throw new ConfigError(problem, { cause: error });
  }
}

/** Of a file that must exist, and that is not written to. */
export const readOnlyUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro`;

/** Of a file that nobody writes to, in a directory that cannot be written to either. A `-wal` beside it is not read. */
export const immutableUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro&immutable=1`;

/**
 * The statements of one connection, each prepared at its first use and told apart by its words. After one has thrown they
 * are to be made anew.
 */
export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, { readonly statement: Statement; readonly reads: boolean }>();
  readonly #insertions = new Map<string, RowInsertion>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Gives the rows of what only reads. */
  run(statement: Query | Insertion): Rows {
    if (!(statement instanceof Query)) {
      this.#insert(statement);
      return [];
    }
    let known = this.#prepared.get(statement.text);
    if (known === undefined) {
      const text = statement.text.replaceAll('@', '');
      known = { statement: this.#database.prepare(text), reads: /^\s*SELECT/.test(text) };
      this.#prepared.set(statement.text, known);
    }
    if (known.reads) return known.statement.all(statement.values);
    known.statement.run(statement.values);
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

/** Rows that one statement inserts at most: a power of two. */
const mostRows = 32;

/** Prepared statements of one table that are kept at most. */
const mostPrepared = 32;

/**
 * Inserts rows of one table together. To run a statement costs more than to insert a row, and so does to hand over its values:
 * where all rows of a statement have the same value in a column, it is handed over once.
 */
class RowInsertion {
  readonly #database: Database;
  readonly #table: string;
  /** By the number of rows, and the columns that differ as bits above it. */
  readonly #prepared = new Map<number, Statement>();

  constructor(database: Database, table: string) {
    this.#database = database;
    this.#table = table;
  }

  insert(rows: readonly (readonly Value[])[]): void {
    for (let start = 0, count = mostRows; start < rows.length; start += count) {
      while (count > rows.length - start) count /= 2;
      this.#insertTogether(rows.slice(start, start + count));
    }
  }

  #insertTogether(rows: readonly (readonly Value[])[]): void {
    const [first = []] = rows;
    const differs = first.map((value, column) => rows.some((row) => row[column] !== value));
    const values = first.filter((_, column) => differs[column] === false);
    for (const row of rows) {
      for (let column = 0; column < row.length; column += 1) {
        if (differs[column] === true) values.push(row[column] ?? null);
      }
    }
    this.#statement(rows.length, differs).run(values);
  }

  #statement(count: number, differs: readonly boolean[]): Statement {
    const key = differs.reduce((bits, one) => bits * 2 + Number(one), 0) * (mostRows + 1) + count;
    const known = this.#prepared.get(key);
    if (known !== undefined) return known;
    let next = differs.filter((one) => !one).length;
    const rows = Array.from({ length: count }, () => {
      let shared = 0;
      const places = differs.map((one) => `?${one ? (next += 1) : (shared += 1)}`);
      return `(${places.join()})`;
    });
    const sql = `INSERT INTO ${this.#table} VALUES ${rows.join()}`;
    const prepared = this.#database.prepare(sql);
    if (this.#prepared.size === mostPrepared) this.#prepared.clear();
    this.#prepared.set(key, prepared);
    return prepared;
  }
}
