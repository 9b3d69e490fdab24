import type { Database, Row, Statement, Value } from './libsql.ts';

/**
 * The statements of one connection, each prepared at its first use and told apart by its words. After one has thrown they
 * are to be made anew.
 */
export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, Statement>();
  readonly #waiting = new Map<string, WaitingRows>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the number of rows that it changed. */
  run(sql: string, ...values: Value[]): number {
    return this.#prepare(sql).run(values).changes;
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#prepare(sql).get(values);
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#prepare(sql).all(values);
  }

  /** Inserts the row at the next `insertWaiting`. Every row of a table comes with the same `onConflict`. */
  insertLater(table: string, row: readonly Value[], onConflict = ''): void {
    let rows = this.#waiting.get(table);
    if (rows === undefined) {
      rows = new WaitingRows(this.#database, table, onConflict);
      this.#waiting.set(table, rows);
    }
    rows.add(row);
  }

  insertWaiting(): void {
    for (const rows of this.#waiting.values()) rows.insert();
  }

  #prepare(sql: string): Statement {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#database.prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }
}

/** Rows that one statement inserts at most: a power of two. */
const mostRows = 32;

/** Prepared statements of one table that are kept at most. */
const mostPrepared = 32;

/**
 * Rows of one table that are inserted together. To run a statement costs more than to insert a row, and so does to hand
 * over its values: where all rows of a statement have the same value in a column, it is handed over once.
 */
class WaitingRows {
  readonly #database: Database;
  readonly #table: string;
  readonly #onConflict: string;
  /** By the number of rows, and the columns that differ as bits above it. */
  readonly #prepared = new Map<number, Statement>();
  #rows: (readonly Value[])[] = [];

  constructor(database: Database, table: string, onConflict: string) {
    this.#database = database;
    this.#table = table;
    this.#onConflict = onConflict;
  }

  add(row: readonly Value[]): void {
    this.#rows.push(row);
  }

  insert(): void {
    const rows = this.#rows;
    this.#rows = [];
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
    const sql = `INSERT INTO ${this.#table} VALUES ${rows.join()} ${this.#onConflict}`;
    const prepared = this.#database.prepare(sql);
    if (this.#prepared.size === mostPrepared) this.#prepared.clear();
    this.#prepared.set(key, prepared);
    return prepared;
  }
}
