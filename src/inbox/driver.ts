import type { Problem } from '../errors.ts';
import type { Erased } from './inbox.ts';
import type { Dialect } from './sql/dialect.ts';
import type { Rows } from './sql/row.ts';
import type { Query, Start, Work } from './sql/statement.ts';

/**
 * Why a transaction failed, as an error for people. `locked`: another process writes, so that it did not begin, and may be tried again.
 * `data`: a smaller part of it may be stored. `database`: a smaller part would fail as well. `mayBeStored`: whether it was committed is
 * not known.
 */
export interface WriteFailure {
  readonly error: Error;
  readonly cause: 'locked' | 'data' | 'database';
  readonly mayBeStored?: boolean;
}

/** A database in which an inbox is stored: a file of SQLite, or PostgreSQL. */
export interface Driver {
  readonly location: string;
  readonly dialect: Dialect;
  /** The present time by the clock of `Start.now`, as an expression of a query. */
  now(): Query;
  /**
   * Runs the work in a transaction that overlaps with no other one that writes, in any process. Resolves once it is durable. Rejects
   * with the database's error, of which `writeFailure` says what it means. The work may run several times, and is committed once.
   */
  write<T>(work: (start: Start) => Work<T>): Promise<T>;
  /** Warns of a damaged database or missing rights as well, once, and notes a full disk for `checkWritable`. */
  writeFailure(error: unknown): WriteFailure;
  /** Rows of one query that only reads, outside of any transaction. Rejects with an error for people. */
  read(query: Query): Promise<Rows>;
  /** The error for people for one that was thrown while the inbox was opened. */
  openError(error: unknown): Error;
  /** Resolves to a text that is another one after any process has written something. Rejects where deliveries cannot be read. */
  changeMark(): Promise<string>;
  /** Rejects as `write` does where a small transaction works, but the next delivery may not be stored for want of room or rights. */
  checkWritable(): Promise<void>;
  /** Names places, for people, in which erased data may remain, since nothing here reaches them. */
  readonly outOfReach: readonly string[];
  /** Is called before data is deleted of which no trace may stay; `overwrite` is called after that. */
  beginErasure(): void;
  overwrite(): Promise<Pick<Erased, 'remains' | 'outOfReach'>>;
  /** Gives the room of pruned deliveries back to the system. Resolves to why that cannot be done now; undefined when it was done. */
  compact(): Promise<Problem | undefined>;
  close(): Promise<void>;
}

export type DatabaseReader = Pick<Driver, 'dialect' | 'read'>;
