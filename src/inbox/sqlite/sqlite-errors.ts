import { ConfigError, messageOf, OutputError } from '../../errors.ts';

/** The inbox did not take a delivery: disk full, I/O error, locked too long. The sender is to try again. */
export class CannotStoreError extends OutputError {}

/** What the database's codes mean for the person; the database's own words are kept as the cause. */
const meanings: readonly (readonly [prefix: string, meaning: string, hint?: string])[] = [
  ['SQLITE_FULL', 'no space left on the device', 'free some space; nothing that was acknowledged is lost'],
  ['SQLITE_BUSY', 'another process holds it locked'],
  ['SQLITE_READONLY', 'it is read-only', 'make the file and its directory writable, or name another --inbox'],
  ['SQLITE_NOTADB', 'it is not an inbox database', 'move it away, or name another --inbox'],
  ['SQLITE_CORRUPT', 'the database is damaged', 'move it away, or restore it from a copy'],
  ['SQLITE_IOERR', 'I/O error'],
  ['SQLITE_CANTOPEN', 'it cannot be opened', 'check that the directory exists and is writable'],
];

export const sqlCode = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : '';
};

function meaningOf(error: unknown): { why: string; hint: string | undefined } {
  const found = meanings.find(([prefix]) => sqlCode(error).startsWith(prefix));
  return { why: found?.[1] ?? messageOf(error), hint: found?.[2] };
}

export function cannotStore(place: string, cause: unknown): CannotStoreError {
  const { why, hint } = meaningOf(cause);
  return new CannotStoreError(`cannot store in the inbox ${place}: ${why}`, { hint, cause });
}

export function cannotOpen(place: string, cause: unknown): ConfigError {
  const { why, hint } = meaningOf(cause);
  return new ConfigError(`cannot open the inbox ${place}: ${why}`, { hint, cause });
}
