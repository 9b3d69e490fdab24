import { ConfigError, messageOf } from '../../errors.ts';
import { cannotStore, type CannotStoreError } from '../cannot-store-error.ts';

/** What the database's codes mean for a person; the database's own words are kept as the cause. */
const meanings: readonly (readonly [prefix: string, reason: string, hint?: string])[] = [
  ['SQLITE_FULL', 'no space left on the device', 'free some space; nothing that was acknowledged is lost'],
  ['SQLITE_BUSY', 'another process holds it locked'],
  ['SQLITE_READONLY', 'it is read-only', 'make the file and its directory writable, or name another --inbox'],
  ['SQLITE_NOTADB', 'it is not an inbox database', 'move it away, or name another --inbox'],
  ['SQLITE_CORRUPT', 'the database is damaged', 'move it away, or restore it from a copy'],
  ['SQLITE_IOERR', 'I/O error'],
  ['SQLITE_CANTOPEN', 'it cannot be opened', 'check that the directory exists and is writable'],
];

/** The database's name for what failed, such as `SQLITE_BUSY`; empty for any other error. */
export const sqliteCode = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : '';
};

function meaningOf(error: unknown): { reason: string; hint: string | undefined } {
  const found = meanings.find(([prefix]) => sqliteCode(error).startsWith(prefix));
  return { reason: found?.[1] ?? messageOf(error), hint: found?.[2] };
}

export const cannotWrite = (path: string, cause: unknown): CannotStoreError =>
  cannotStore(path, meaningOf(cause), cause);

export function cannotOpen(path: string, cause: unknown): ConfigError {
  const { reason, hint } = meaningOf(cause);
  return new ConfigError(`cannot open the inbox ${path}: ${reason}`, { hint, cause });
}
