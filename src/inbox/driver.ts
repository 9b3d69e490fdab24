import type { Problem } from '../errors.ts';
import type { Erased } from './inbox.ts';
import type { Dialect } from './sql/dialect.ts';
import type { Rows } from './sql/row.ts';
import type { Query, Start, Work } from './sql/statement.ts';

export interface WriteFailure {
  readonly error: Error;
  /**
   * `locked`: another process is writing, so that no transaction began, and none waited. `data`: a smaller part of the
   * transaction may be stored. `database`: a smaller part would fail as well.
   */
  readonly cause: 'locked' | 'data' | 'database';
  readonly mayBeStored?: boolean;
}

export interface Driver {
  readonly location: string;
  readonly dialect: Dialect;
  /** The present time by the clock of `Start.now`, as an expression of a query. */
  now(): Query;
  /**
   * Runs the work in a transaction that no other one that writes overlaps, in any process. Resolves once it is durable. Rejects
   * with the database's error when nothing of it is stored, or when that is not known.
   */
  write<T>(work: (start: Start) => Work<T>): Promise<T>;
  writeFailure(error: unknown): WriteFailure;
  /** Rows of one query that only reads, outside of any transaction. Rejects with an error for people. */
  read(query: Query): Promise<Rows>;
  openError(error: unknown): Error;
  /** Another text after something was written, by whichever process. */
  changeMark(): Promise<string>;
  checkReadable(): Promise<void>;
  /** Rejects as `write` does where the next delivery could not be stored though a transaction works: for want of room or rights. */
  checkWritable(): Promise<void>;
  /** Places, in words, where erased data may be that nothing here reaches. */
  readonly outOfReach: readonly string[];
  /** Called before data is deleted of which no trace may stay. */
  beginErasure(): void;
  /** Overwrites what was deleted since. */
  overwrite(): Promise<Pick<Erased, 'remains' | 'outOfReach'>>;
  /** Gives the system back what pruned deliveries took. Resolves to why it could not be done now. */
  compact(): Promise<Problem | undefined>;
  close(): Promise<void>;
}

export type DatabaseReader = Pick<Driver, 'dialect' | 'read'>;
