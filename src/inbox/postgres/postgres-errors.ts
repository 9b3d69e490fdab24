import { ConfigError, DataError, LeadsError, messageOf } from '../../errors.ts';
import { DatabaseError, DatabaseUnavailableError } from './connection/database-errors.ts';
import { cannotStore, type CannotStoreError } from '../inbox.ts';
import { type InboxProblem, isDatabaseProblem, type StoreFault } from '../problems.ts';

/** The meanings of the database's codes, of which the first match holds; its own words are kept as the cause. */
const faults = [
  ['53100', 'postgres-disk-full'],
  ['53', 'postgres-lacks-resource'],
  ['25006', 'postgres-read-only'],
  ['55P03', 'postgres-locked'],
  ['57014', 'postgres-too-slow'],
  ['57P', 'postgres-ended-connection'],
  ['08', 'postgres-cut'],
] as const;

/** SQLSTATE; empty for what is not the database's. */
export function sqlState(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : '';
}

/** A transaction that met another one, and that works when it is tried again. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(sqlState(error));

/** A smaller batch fails for these as well: connections, rights and tables, resources, locks, an end of the server. */
const ofWholeDatabase = /^(08|25|40|42|53|55P03|57|58)/;

/** The database, or this program, did not take some of the data: a smaller batch may work. */
export function isOfData(error: unknown): boolean {
  if (error instanceof LeadsError || error instanceof LostAnswerError) return false;
  const { code } = error as { readonly code?: unknown };
  const isOfSocket = typeof code === 'string' && sqlState(error) === '';
  return !isOfSocket && !ofWholeDatabase.test(sqlState(error));
}

/** Whether the transaction was committed is not known. */
export class LostAnswerError extends Error {}

export const isForbidden = (error: unknown): boolean => sqlState(error) === '42501';

/** The error of a statement that this role may not run, in the database's own words. */
export const forbiddenTable = (table: string): DatabaseError =>
  new DatabaseError(`permission denied for table ${table}`, '42501');

/** The server answered, so that what it did is known. */
export const isAnswered = (error: unknown): boolean =>
  sqlState(error) !== '' && !/^(08|57P)/.test(sqlState(error));

/** Describes a failure as data. */
function faultOf(error: unknown): StoreFault {
  const [, kind] = faults.find(([prefix]) => sqlState(error).startsWith(prefix)) ?? [];
  if (kind !== undefined) return { kind };
  if (isForbidden(error)) return { kind: 'postgres-forbidden', detail: messageOf(error) };
  const problem = error instanceof LeadsError ? error.problem : undefined;
  if (problem !== undefined && isDatabaseProblem(problem)) return problem;
  return { kind: 'store-other-fault', detail: messageOf(error) };
}

export const cannotWrite = (inbox: string, cause: unknown): CannotStoreError =>
  cannotStore(inbox, faultOf(cause), cause);

/** An error for people stays as it is. */
export function cannotRead(inbox: string, cause: unknown): unknown {
  if (cause instanceof LeadsError) return cause;
  const problem = { kind: 'inbox-cannot-read', inbox, fault: faultOf(cause) } satisfies InboxProblem;
  return new DataError(problem, { cause });
}

/** Failures that pass by themselves, or once a disk has room: a conflict, a lack, a lock, or a failure of files. */
const passing = /^(40|53|55P03|57|58)/;

/** `thrown`: by the database, or what `cannotRead` made of it. */
export function cannotOpen(inbox: string, thrown: unknown): LeadsError {
  const cause = thrown instanceof DataError ? thrown.cause : thrown;
  if (cause instanceof LeadsError) return cause;
  const problem = { kind: 'inbox-cannot-open', inbox, fault: faultOf(cause) } satisfies InboxProblem;
  const Failure = passing.test(sqlState(cause)) ? DatabaseUnavailableError : ConfigError;
  return new Failure(problem, { cause });
}
