import { ConfigError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import { cannotOpenInbox, cannotReadInbox, cannotStore, freeSpace, type StoreFault } from '../errors.ts';

/** The database cannot be reached, or does not answer: it may work later. The program exits with 5 where nothing catches it. */
export class DatabaseUnavailableError extends ServiceError {}

/** A failure of a connection for which node has no code. `cut`: it was closed, and another connection may work. */
export class ConnectionError extends Error {
  readonly kind: 'cut' | 'no TLS' | 'other';

  constructor(message: string, kind: ConnectionError['kind'] = 'other') {
    super(message);
    this.name = 'ConnectionError';
    this.kind = kind;
  }
}

export const connectionCut = (): ConnectionError => new ConnectionError('it closed the connection', 'cut');

/** An error that the database answered. Its detail, which may show a row, is not kept. */
export class DatabaseError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = 'DatabaseError';
    this.code = code;
  }
}

/** Whether the same work may succeed on another session: this one was cut, or its server takes no writes any more. */
export const isSessionLost = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError && error.kind === 'database-session-lost';

/** Codes of node for a socket that works no more. */
const socketCodes = /^(E(PIPE|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_(SSL|STREAM)\w*)$/;

/** SQLSTATEs after which a session is of no use: connection exceptions, a server that stops or starts, a pooler without connections. */
const sessionEndStates = /^(08...|57P..|53300)$/;
const readOnlyState = '25006';
const diskFullState = '53100';

/** The error for a statement that failed since its session cannot be used any more; undefined where the session can be used on. */
export function sessionError(error: unknown): DatabaseUnavailableError | undefined {
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
  if (sessionEndStates.test(code)) return lost(`the database ended the connection: ${messageOf(error)}`);
  return socketCodes.test(code) ? lost('the connection to the database was cut') : undefined;
}

/** The code of node, of TLS, or of PostgreSQL (its SQLSTATE); empty for an error without one. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Sentences for SQLSTATEs, of which the first prefix that matches counts. The database's own message is kept as the cause. */
const reasonsBySqlState: readonly (readonly [prefix: string, reason: StoreFault])[] = [
  [diskFullState, { message: 'no space left on the disk of the database', hint: freeSpace }],
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
const sqlState = (error: unknown): string => (error instanceof DatabaseError ? error.code : '');

/** Whether a transaction met another one (a serialization failure or a deadlock), so that it works when it is repeated. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(sqlState(error));

/** Classes of SQLSTATEs for which a smaller batch fails as well: connections, transactions, rights and tables, resources, locks, the server. */
const wholeDatabaseStates = /^(08|25|40|42|53|55P03|57|58)/;

/** Whether a part of the data may be the cause, as the database or this program refuses it, so that a smaller batch may work. */
export function mayBeCausedByData(error: unknown): boolean {
  if (error instanceof LeadsError || error instanceof LostAnswerError) return false;
  const isOfSocket = codeOf(error) !== '' && sqlState(error) === '';
  return !isOfSocket && !wholeDatabaseStates.test(sqlState(error));
}

/** The connection broke during COMMIT: whether the transaction was committed is not known. */
export class LostAnswerError extends Error {}

export const isDiskFull = (error: unknown): boolean => sqlState(error) === diskFullState;

export const isForbidden = (error: unknown): boolean => sqlState(error) === '42501';

/** Whether the server itself refused a statement, so that nothing was committed. */
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

/** Classes of SQLSTATEs that pass without a change of settings: conflicts, resources such as room on a disk, locks, stops, failures of files. */
const transientStates = /^(40|53|55P03|57|58)/;

export function cannotOpen(inbox: string, cause: unknown): LeadsError {
  if (cause instanceof LeadsError) return cause;
  const Failure = transientStates.test(sqlState(cause)) ? DatabaseUnavailableError : ConfigError;
  return new Failure(...cannotOpenInbox(inbox, reasonFor(cause), cause));
}
