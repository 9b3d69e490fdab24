import { ConfigError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import { cannotOpenInbox, cannotReadInbox, cannotStore, freeSpace, type StoreFault } from '../errors.ts';
import type { Hint } from '../../front.ts';
import type { DatabaseHost, DatabaseUrl } from './database-url.ts';

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
function codeOf(error: unknown): string {
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

interface Attempt {
  readonly url: DatabaseUrl;
  readonly host: DatabaseHost;
  readonly hasPassword: boolean;
}

/**
 * Makes the error for a connection that could not be opened, of a SQLSTATE or a code of node: a `ConfigError` when a setting or the server
 * has to be changed, and a `DatabaseUnavailableError` when the same may work later.
 */
export function openingError(error: unknown, { url, host: address, hasPassword }: Attempt): LeadsError {
  if (error instanceof ConfigError) return error;
  const { database } = url;
  const user = `user '${url.user}'`;
  const host = `the database on ${hostText(address)}`;
  const code = codeOf(error);
  const detail = messageOf(error);
  const wrong = (problem: string, hint?: Hint) =>
    new ConfigError(`${host} ${problem}`, { hint, cause: error });
  const unreachable = (reason: string, hint?: Hint) =>
    new DatabaseUnavailableError(`${host} cannot be reached: ${reason}`, {
      ...{ kind: 'database-unreachable', hint, cause: error },
    });
  if (error instanceof ConnectionError) {
    if (error.kind !== 'no TLS') return unreachable(detail);
    return wrong(
      'does not offer TLS',
      'turn it on there (ssl = on), or add sslmode=disable&insecure=true to the URL, and leads and the password travel unencrypted',
    );
  }
  switch (code) {
    case '28P01':
      return hasPassword
        ? wrong(`does not take the password of ${user}`, passwordPlaces)
        : wrong(`asks for a password of ${user}, and none was found`, passwordPlaces);
    case '28000':
      return wrong(
        `does not let ${user} in: ${detail}`,
        'pg_hba.conf of the server says who may connect from where, and whether with TLS',
      );
    case '3D000':
      return wrong(`has no database '${database}'`, `make it: createdb ${database}`);
    case '42501':
      return wrong(
        `does not let ${user} connect to '${database}'`,
        'GRANT CONNECT ON DATABASE to the role of the inbox',
      );
    case '53300':
      return new DatabaseUnavailableError(`${host} has no connection left: ${detail}`, {
        hint: 'raise max_connections there, or put a pooler such as pgbouncer before it',
        cause: error,
      });
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return wrong(
        'has a certificate for another name',
        'name the host as the certificate does, or use sslmode=verify-ca, which does not look at the name',
      );
    case 'CERT_HAS_EXPIRED':
      return wrong('has a certificate that has expired', 'renew it on the server');
    case 'ECONNREFUSED':
      return unreachable('connection refused', isItRunning);
    case 'ENOENT':
      return unreachable('there is no socket', isItRunning);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return unreachable('the name is not found', 'check its spelling, and DNS');
  }
  if (unknownAuthority.test(code)) {
    return wrong(
      'has a certificate of an authority that is not known',
      "name its authority's certificate: sslrootcert=/path/to/ca.pem in the URL",
    );
  }
  if (/^ERR_(SSL|TLS|OSSL)/.test(code)) {
    return new ConfigError(`${host}: TLS failed: ${detail}`, { cause: error });
  }
  return unreachable(detail || code);
}

const isItRunning = 'is PostgreSQL running there?';
const passwordPlaces = 'it is looked for in the URL, PGPASSWORD, and PGPASSFILE or ~/.pgpass';
const unknownAuthority = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;

export const hostText = ({ name, port, isSocket }: DatabaseHost): string =>
  isSocket ? `${name}/.s.PGSQL.${port}` : `${name.includes(':') ? `[${name}]` : name}:${port}`;
