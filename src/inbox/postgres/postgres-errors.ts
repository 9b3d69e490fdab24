import { ConfigError, DataError, LeadsError, messageOf } from '../../errors.ts';
import { LiteralError } from './sql.ts';
import { cannotStore, CannotStoreError } from '../inbox.ts';

/** What the database's codes mean for a person; the database's own words are kept as the cause. */
const meanings: readonly (readonly [prefix: string, reason: string, hint?: string])[] = [
  [
    '53100',
    'no space left on the disk of the database',
    'free some space; nothing that was acknowledged is lost',
  ],
  ['53', 'the database lacks a resource'],
  ['25006', 'the database is read-only', 'name the host that takes writes, as after a failover'],
  ['55P03', 'another transaction holds it locked'],
  ['57014', 'the database took too long'],
  ['57P', 'the database ended the connection'],
  ['42501', 'the role may not do that', 'the README names the rights that a receiver needs'],
  ['08', 'the connection was cut'],
];

/** SQLSTATE; empty for what is not the database's. */
export function sqlState(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : '';
}

/** A transaction that met another one, and that works when it is tried again. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(sqlState(error));

/** The database did not take some of the data: a smaller batch may work. XX is a damaged page. */
export const isOfData = (error: unknown): boolean =>
  error instanceof LiteralError ||
  error instanceof UnknownLeadError ||
  /^(22|23|54|XX)/.test(sqlState(error));

/** A lead is to be settled that never came. */
export class UnknownLeadError extends Error {}

/** There is no such schema or table. */
export const isMissing = (error: unknown): boolean => /^(3F000|42P01)$/.test(sqlState(error));

export const isForbidden = (error: unknown): boolean => sqlState(error) === '42501';

/** Somebody else holds a lock for longer than was to be waited. */
export const isLocked = (error: unknown): boolean => sqlState(error) === '55P03';

/** The server answered, so that what it did is known. */
export const isAnswered = (error: unknown): boolean =>
  sqlState(error) !== '' && !/^(08|57P)/.test(sqlState(error));

function meaningOf(error: unknown): { reason: string; hint: string | undefined } {
  const found = meanings.find(([prefix]) => sqlState(error).startsWith(prefix));
  const given = error instanceof LeadsError ? error.hint : undefined;
  return { reason: found?.[1] ?? messageOf(error), hint: found?.[2] ?? given };
}

export const cannotWrite = (location: string, cause: unknown): CannotStoreError =>
  cause instanceof CannotStoreError ? cause : cannotStore(location, meaningOf(cause), cause);

/** While rows were read; what is an error for people already stays as it is. */
export function cannotRead(location: string, cause: unknown): unknown {
  if (cause instanceof LeadsError) return cause;
  const { reason, hint } = meaningOf(cause);
  return new DataError(`cannot read the inbox ${location}: ${reason}`, { hint, cause });
}

export function cannotOpen(location: string, cause: unknown): LeadsError {
  if (cause instanceof LeadsError) return cause;
  const { reason, hint } = meaningOf(cause);
  return new ConfigError(`cannot open the inbox ${location}: ${reason}`, { hint, cause });
}
