import { ConfigError, DataError, messageOf } from '../../errors.ts';
import { cannotStore, CannotStoreError } from '../inbox.ts';

/** What the database's codes mean for a person; the database's own words are kept as the cause. */
const meanings: readonly (readonly [prefix: string, reason: string, hint?: string])[] = [
  ['SQLITE_FULL', 'no space left on the device', 'free some space; nothing that was acknowledged is lost'],
  ['SQLITE_BUSY', 'another process holds it locked'],
  ['SQLITE_READONLY', 'it is read-only', 'make the file and its directory writable, or name another --inbox'],
  ['SQLITE_NOTADB', 'it is not an inbox database', 'move it away, or name another --inbox'],
  ['SQLITE_CORRUPT', 'the database is damaged'],
  ['SQLITE_IOERR', 'I/O error'],
  ['SQLITE_CANTOPEN', 'it cannot be opened', 'check that the directory exists and is writable'],
];

/** The database's name for what failed, such as `SQLITE_BUSY`; empty for any other error. */
export const sqliteCode = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : '';
};

export const isDamage = (error: unknown): boolean => sqliteCode(error).startsWith('SQLITE_CORRUPT');

/** The command that saves what a damaged inbox still holds. */
export const recoverCommand = (path: string): string => `leads inbox recover --inbox ${path} -o NEW`;

function meaningOf(path: string, error: unknown): { reason: string; hint: string | undefined } {
  const found = meanings.find(([prefix]) => sqliteCode(error).startsWith(prefix));
  const hint = isDamage(error) ? `'${recoverCommand(path)}' saves what it still holds` : found?.[2];
  return { reason: found?.[1] ?? messageOf(error), hint };
}

export const cannotWrite = (path: string, cause: unknown): CannotStoreError =>
  cause instanceof CannotStoreError ? cause : cannotStore(path, meaningOf(path, cause), cause);

/** While rows were read; an error that is not the database's stays as it is. */
export function cannotRead(path: string, cause: unknown): unknown {
  if (!sqliteCode(cause).startsWith('SQLITE_')) return cause;
  const { reason, hint } = meaningOf(path, cause);
  return new DataError(`cannot read the inbox ${path}: ${reason}`, { hint, cause });
}

export function cannotOpen(path: string, cause: unknown): ConfigError {
  const { reason, hint } = meaningOf(path, cause);
  return new ConfigError(`cannot open the inbox ${path}: ${reason}`, { hint, cause });
}
