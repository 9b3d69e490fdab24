import { randomBytes } from 'node:crypto';
import type { Connections } from '../connection/database-connections.ts';
import { sqlState } from '../postgres-errors.ts';
import { type Sql, sql } from '../sql.ts';
import { commit } from './transaction.ts';

/** The largest delivery needs so many bytes: a body may have 1 MiB. */
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

  /** A few bytes always fit somewhere, so that once a disk was full, as much as a delivery may have is written. */
  async run(): Promise<void> {
    const filler = this.#isFull ? sql`${randomBytes(roomBytes)}` : sql`NULL`;
    await commit(
      this.#connections,
      sql`UPDATE ${this.#schema}.write_checks SET number = number + 1, filler = ${filler};`,
    );
    this.#isFull = false;
  }
}
