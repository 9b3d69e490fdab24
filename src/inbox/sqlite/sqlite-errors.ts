import { ConfigError, DataError, messageOf } from '../../errors.ts';
import { cannotStore, CannotStoreError } from '../inbox.ts';
import type { InboxProblem, StoreFault } from '../problems.ts';

/** What the database's codes mean; the database's own words are kept as the cause. */
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

export function faultOf(path: string, error: unknown): StoreFault {
  if (isDamage(error)) return { kind: 'sqlite-damaged', path };
  const [, kind] = faults.find(([prefix]) => sqliteCode(error).startsWith(prefix)) ?? [];
  return kind === undefined ? { kind: 'store-other-fault', detail: messageOf(error) } : { kind };
}

export const cannotWrite = (inbox: string, cause: unknown): CannotStoreError =>
  cause instanceof CannotStoreError ? cause : cannotStore(inbox, faultOf(inbox, cause), cause);

/** While rows were read; an error that is not the database's stays as it is. */
export function cannotRead(inbox: string, cause: unknown): unknown {
  if (!sqliteCode(cause).startsWith('SQLITE_')) return cause;
  const found = { kind: 'inbox-cannot-read', inbox, fault: faultOf(inbox, cause) } satisfies InboxProblem;
  return new DataError(found, { cause });
}

export function cannotOpen(inbox: string, cause: unknown): ConfigError {
  const found = { kind: 'inbox-cannot-open', inbox, fault: faultOf(inbox, cause) } satisfies InboxProblem;
  return new ConfigError(found, { cause });
}
