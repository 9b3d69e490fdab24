import { ConfigError, DataError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import { cannotOpenInbox, cannotReadInbox, cannotStore, freeSpace, type StoreFault } from '../errors.ts';

/** The database cannot be reached, or does not answer: it may work later. Exit 5 where nothing catches it. */
export class DatabaseUnavailableError extends ServiceError {}

/** A failure of a connection that node has no code for. `cut`: it is closed, and another connection may work. */
export class ConnectionError extends Error {
  readonly kind: 'cut' | 'no TLS' | 'other';

  constructor(message: string, kind: ConnectionError['kind'] = 'other') {
    super(message);
    this.name = 'ConnectionError';
    this.kind = kind;
  }
}

export const connectionClosed = (): ConnectionError => new ConnectionError('it closed the connection', 'cut');

/** An error that the database answered. Its detail, which may show a row, is not kept. */
export class DatabaseError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = 'DatabaseError';
    this.code = code;
  }
}

/** Another session may do what this one could not: it was cut, or its server takes no writes any more. */
export const isSessionLost = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError && error.kind === 'database-session-lost';

/** A connection that broke while statements ran on it, or of which nothing more can be expected; undefined: it did not. */
export function brokenConnection(error: unknown): DatabaseUnavailableError | undefined {
  const code = codeOf(error);
  const lost = (message: string, hint?: string) =>
    new DatabaseUnavailableError(message, { kind: 'database-session-lost', hint, cause: error });
  if (error instanceof ConnectionError) {
    return error.kind === 'cut'
      ? lost(error.message)
      : new DatabaseUnavailableError(error.message, { cause: error });
  }
  if (code === readOnlyState) {
    return lost(
      'the database is read-only, as after a failover',
      'name all hosts in the URL, and target_session_attrs=read-write',
    );
  }
  // 08 are connection exceptions, with 57P the server shuts down or starts, and with 53300 a pooler has no connection left.
  if (/^(08...|57P..|53300)$/.test(code)) {
    return lost(`the database ended the connection: ${messageOf(error)}`);
  }
  return cutCodes.test(code) ? lost('the connection to the database was cut') : undefined;
}
const cutCodes = /^(E(PIPE|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_(SSL|STREAM)\w*)$/;

export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

const readOnlyState = '25006';

/** The first prefix that matches counts. The database's own message is kept as the cause. */
const reasonsBySqlState: readonly (readonly [prefix: string, reason: StoreFault])[] = [
  ['53100', { message: 'no space left on the disk of the database', hint: freeSpace }],
  ['53', { message: 'the database lacks a resource' }],
  [
    readOnlyState,
    { message: 'the database is read-only', hint: 'name the host that takes writes, as after a failover' },
  ],
  ['55P03', { message: 'another transaction holds it locked' }],
  ['57014', { message: 'the database took too long' }],
  ['57P', { message: 'the database ended the connection' }],
  ['08', { message: 'the connection was cut' }],
];

/** The SQLSTATE of an error that the database answered; empty for any other error. */
export const sqlState = (error: unknown): string => (error instanceof DatabaseError ? error.code : '');

/** A transaction that met another one, and that works when it is tried again. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(sqlState(error));

/** A smaller batch fails for these as well: connections, rights and tables, resources, locks, an end of the server. */
const wholeDatabaseStates = /^(08|25|40|42|53|55P03|57|58)/;

/** The database, or this program, did not take some of the data: a smaller batch may work. */
export function mayBeOfData(error: unknown): boolean {
  if (error instanceof LeadsError || error instanceof LostAnswerError) return false;
  const isOfSocket = codeOf(error) !== '' && sqlState(error) === '';
  return !isOfSocket && !wholeDatabaseStates.test(sqlState(error));
}

/** Whether the transaction was committed is not known. */
export class LostAnswerError extends Error {}

export const isForbidden = (error: unknown): boolean => sqlState(error) === '42501';

/** The server itself refused a statement: nothing was committed. */
export const isServerAnswer = (error: unknown): boolean =>
  sqlState(error) !== '' && !/^(08|57P)/.test(sqlState(error));

export const namesRights = 'docs/fleet.md names the rights that a receiver needs';

function reasonFor(error: unknown): StoreFault {
  if (error instanceof LeadsError) return { message: error.message, hint: error.details.hint };
  const [, reason] = reasonsBySqlState.find(([prefix]) => sqlState(error).startsWith(prefix)) ?? [];
  return reason ?? { message: messageOf(error), hint: isForbidden(error) ? namesRights : undefined };
}

export const cannotWrite = (inbox: string, cause: unknown) => cannotStore(inbox, reasonFor(cause), cause);

/** An error for people stays as it is. */
export const cannotRead = (inbox: string, cause: unknown): unknown =>
  cause instanceof LeadsError ? cause : cannotReadInbox(inbox, reasonFor(cause), cause);

/** Failures that pass by themselves, or once a disk has room: a conflict, a lack, a lock, or a failure of files. */
const passing = /^(40|53|55P03|57|58)/;

export function cannotOpen(inbox: string, thrown: unknown): LeadsError {
  // A read that failed while the inbox was opened has passed `cannotRead`.
  const cause = thrown instanceof DataError ? thrown.cause : thrown;
  if (cause instanceof LeadsError) return cause;
  const Failure = passing.test(sqlState(cause)) ? DatabaseUnavailableError : ConfigError;
  return new Failure(...cannotOpenInbox(inbox, reasonFor(cause), cause));
}
