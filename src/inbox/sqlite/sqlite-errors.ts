import { ConfigError, DataError, messageOf } from '../../errors.ts';
import { cannotStore, type CannotStoreError } from '../inbox.ts';
import type { InboxProblem, StoreFault } from '../problems.ts';

/** The meanings of the database's codes; its own words are kept as the cause. */
const faults = [
  ['SQLITE_FULL', 'sqlite-full'],
  ['SQLITE_BUSY', 'sqlite-locked'],
  ['SQLITE_LOCKED', 'sqlite-locked'],
  ['SQLITE_READONLY', 'sqlite-read-only'],
  ['SQLITE_NOTADB', 'sqlite-no-inbox'],
  ['SQLITE_IOERR', 'sqlite-io-error'],
  ['SQLITE_CANTOPEN', 'sqlite-not-opened'],
] as const;

/** The database's name for what failed, such as `SQLITE_BUSY`; empty for any other error. */
export const sqliteCode = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
};

/** Another process has it in use, and may not a moment later. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error));

export const isDamage = (error: unknown): boolean => sqliteCode(error).startsWith('SQLITE_CORRUPT');

/** The file was lost or cannot be looked at, which the database does not notice. */
export class FileFault extends Error {
  readonly fault: StoreFault;

  constructor(fault: StoreFault, cause?: unknown) {
    super(fault.kind, { cause });
    this.fault = fault;
  }
}

export function faultOf(path: string, error: unknown): StoreFault {
  if (error instanceof FileFault) return error.fault;
  if (isDamage(error)) return { kind: 'sqlite-damaged', path };
  const [, kind] = faults.find(([prefix]) => sqliteCode(error).startsWith(prefix)) ?? [];
  return kind === undefined ? { kind: 'store-other-fault', detail: messageOf(error) } : { kind };
}

export const cannotWrite = (inbox: string, cause: unknown): CannotStoreError =>
  cannotStore(inbox, faultOf(inbox, cause), cause);

/** An error that is not the database's stays as it is. */
export function cannotRead(inbox: string, cause: unknown): unknown {
  if (!(cause instanceof FileFault) && !sqliteCode(cause).startsWith('SQLITE_')) return cause;
  const problem = { kind: 'inbox-cannot-read', inbox, fault: faultOf(inbox, cause) } satisfies InboxProblem;
  return new DataError(problem, { cause });
}

/** `cause`: of the database, or what `cannotRead` made of it. */
export function cannotOpen(inbox: string, cause: unknown): ConfigError {
  const fault = faultOf(inbox, cause instanceof DataError ? cause.cause : cause);
  return new ConfigError({ kind: 'inbox-cannot-open', inbox, fault } satisfies InboxProblem, { cause });
}
