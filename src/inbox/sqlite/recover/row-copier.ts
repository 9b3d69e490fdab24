import type { Database, Row, Statement, Value } from '../libsql.ts';

/** Writes rows as they were read into a database with the same tables; one that is there already stays. */
export class RowCopier {
  readonly #to: Database;
  readonly #inserts = new Map<string, Statement>();

  constructor(to: Database) {
    this.#to = to;
  }

  copy(table: string, rows: readonly Row[]): void {
    for (const row of rows) {
      const values = Object.entries(row)
        .filter(([name]) => name !== '_metadata')
        .map(([, value]) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value));
      this.#insertInto(table, values).run(values);
    }
  }

  #insertInto(table: string, values: readonly Value[]): Statement {
    let insert = this.#inserts.get(table);
    if (insert === undefined) {
      const places = values.map(() => '?').join(', ');
      insert = this.#to.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${places})`);
      this.#inserts.set(table, insert);
    }
    return insert;
  }
}
