import type { ConnectionPool } from './inbox.ts';
import type { NotOverwritten, OutOfReach } from './problems.ts';
import type { Dialect } from './sql/dialect.ts';
import type { Query, Rows, Work } from './sql/statement.ts';

/** What each transaction that writes begins with. */
export interface Start {
  /** The last number that a delivery has. */
  readonly seq: number;
  /** Milliseconds since the epoch, by the clock that all who share the inbox have in common. */
  readonly now: number;
}

/**
 * A database that holds an inbox. Whatever it throws is the database's own error; `writeError` and `readError` make of it what
 * people are told.
 */
export interface Driver {
  /** The path of the file, `:memory:`, or the URL of the database as it is shown. */
  readonly location: string;
  readonly dialect: Dialect;
  /** The present time by the clock of `Start.now`, as an expression of a query. */
  now(): Query;
  /**
   * Runs the work in a transaction that no other one that writes overlaps, in any process. Resolves once it is durable. Rejects
   * when nothing of it is stored, or when nobody knows.
   */
  write<T>(work: (start: Start) => Work<T>): Promise<T>;
  /** Whether another process is writing, so that nothing was begun, and nobody waited for it. */
  isLocked(error: unknown): boolean;
  /** Whether a smaller part of what failed with this may be stored. */
  isOfData(error: unknown): boolean;
  /** Whether what failed with this may be stored all the same. Left out by a database that always knows. */
  mayBeStored?(error: unknown): boolean;
  /** Rows of one query that only reads, outside of any transaction. */
  read(query: Query): Promise<Rows>;
  openError(error: unknown): Error;
  writeError(error: unknown): Error;
  readError(error: unknown): unknown;
  /** Another text after something was written, by whichever process. */
  changeMark(): Promise<string>;
  /** Rejects where the database cannot be read any more, or is not the one that was opened. */
  checkReadable(): Promise<void>;
  /** Rejects as `write` does where the largest delivery would not fit. */
  checkRoom(): Promise<void>;
  /** Where erased data may be that nothing here reaches. */
  readonly outOfReach: readonly OutOfReach[];
  /** Called before data is deleted of which no trace may stay. */
  beginErasure(): void;
  /** Overwrites what was deleted since. */
  overwrite(): Promise<Overwritten>;
  /** Gives the system back what pruned deliveries took. Resolves to why it could not be done now. */
  compact(): Promise<NotOverwritten | undefined>;
  /** Left out by a database that is no server. */
  readonly pool?: () => ConnectionPool;
  close(): Promise<void>;
}

/** `remains`: why traces stay in the database's own files. */
export interface Overwritten {
  readonly remains: NotOverwritten | undefined;
  readonly outOfReach: readonly OutOfReach[];
}

/** What reading takes of a driver. */
export type DatabaseReader = Pick<Driver, 'dialect' | 'read'>;
