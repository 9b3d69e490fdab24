import type { Connections } from './connection/database-connections.ts';
import { begin } from './commit/transaction.ts';
import { sqlState } from './postgres-errors.ts';
import { type Sql, sql } from './sql/sql.ts';

/** What the largest delivery needs, in bytes: a body may have 1 MiB. */
const roomBytes = 1.5 * 1024 * 1024;

/** Finds out whether the next delivery can be made durable. */
export class WriteCheck {
  readonly #connections: Connections;
  readonly #schema: Sql;
  #isFull = false;

  constructor(connections: Connections, schema: Sql) {
    this.#connections = connections;
    this.#schema = schema;
  }

  /** A write failed with what the database threw. */
  failed(error: unknown): void {
    if (sqlState(error) === '53100') this.#isFull = true;
  }

  /**
   * Commits a small write. A few bytes always fit somewhere, so that once a disk was full, as much as a delivery may have
   * is written as well.
   */
  async run(): Promise<void> {
    const filler = this.#isFull ? sql`decode(repeat('00', ${roomBytes}), 'hex')` : sql`NULL`;
    await this.#connections.use(async (connection) => {
      await connection.run(
        sql`${begin} UPDATE ${this.#schema}.write_checks SET number = number + 1, filler = ${filler}; COMMIT;`,
      );
      this.#isFull = false;
    });
  }
}
