import type { ConnectionPool } from '../../inbox.ts';
import type { Rows, Sql } from '../sql.ts';

/** A connection that nothing else uses meanwhile. */
export interface Connection {
  /**
   * Sends statements as one message, and gives the rows of each that has some, in order. `answerMs`: how long they may go
   * without a byte of answer; default 5,000.
   */
  run(statements: Sql, answerMs?: number): Promise<readonly Rows[]>;
}

/** A PostgreSQL database that is connected to. */
export interface Connections {
  /** The URL as it is shown: without password. */
  readonly location: string;
  /** Of the inbox. */
  readonly schema: string;
  /**
   * Lends a connection for as long as `work` runs. Rejects with a `DatabaseUnavailableError` when there is none, when it
   * breaks, and when an answer takes too long; with a `ConfigError` when the database does not let this user in any more;
   * and otherwise with what `work` threw. A connection that broke, that became read-only, or on which a transaction was
   * left open is closed, and the next call gets another one.
   */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  pool(): ConnectionPool;
  /** Ends idle connections at once, and the others as they come back. */
  close(): Promise<void>;
}
