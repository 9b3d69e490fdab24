import { ConfigError, DataError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import type { Hint } from '../../front.ts';
import { cannotOpenInbox, cannotReadInbox, cannotStore, freeSpace, type StoreFault } from '../errors.ts';
import type { DatabaseHost, DatabaseUrl } from './connection/database-url.ts';

/** The database cannot be reached, or does not answer: it may work later. Exit 5 where nothing catches it. */
export class DatabaseUnavailableError extends ServiceError {}

/** A fault of a connection that node has no code for. `cut`: it is closed, and another connection may work. */
export class SocketFault extends Error {
  readonly kind: 'cut' | 'no TLS' | 'other';

  constructor(message: string, kind: SocketFault['kind'] = 'other') {
    super(message);
    this.name = 'SocketFault';
    this.kind = kind;
  }
}

export const closedFault = (): SocketFault => new SocketFault('it closed the connection', 'cut');

/** An error that the database answered. Its detail, which may show a row, is not kept. */
export class DatabaseError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = 'DatabaseError';
    this.code = code;
  }
}

interface Attempt {
  readonly url: DatabaseUrl;
  readonly host: DatabaseHost;
  readonly hasPassword: boolean;
}

const isItRunning = 'is PostgreSQL running there?';
const passwordPlaces = 'it is looked for in the URL, PGPASSWORD, and PGPASSFILE or ~/.pgpass';

/**
 * Makes the error of a connection that could not be opened: a `ConfigError` when a setting or the server has to be changed, and a
 * `DatabaseUnavailableError` otherwise.
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
  if (error instanceof SocketFault && error.kind !== 'no TLS') return unreachable(detail);
  switch (error instanceof SocketFault ? error.kind : code) {
    case 'no TLS':
      return wrong(
        'does not offer TLS',
        'turn it on there (ssl = on), or add sslmode=disable&insecure=true to the URL, and leads and the password travel unencrypted',
      );
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

/** Another session may do what this one could not: it was cut, or its server takes no writes any more. */
export const isSessionLost = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError && error.kind === 'database-session-lost';

/** A connection that broke while statements ran on it, or of which nothing more can be expected; undefined: it did not. */
export function brokenConnection(error: unknown): DatabaseUnavailableError | undefined {
  const code = codeOf(error);
  const lost = (message: string, hint?: string) =>
    new DatabaseUnavailableError(message, { kind: 'database-session-lost', hint, cause: error });
  if (error instanceof SocketFault) {
    return error.kind === 'cut'
      ? lost(error.message)
      : new DatabaseUnavailableError(error.message, { cause: error });
  }
  if (code === readOnly) {
    return lost(
      'the database is read-only, as after a failover',
      'name all hosts in the URL, and target_session_attrs=read-write',
    );
  }
  // 08 are connection exceptions, with 57P the server shuts down or starts, and with 53300 a pooler has no connection left.
  if (/^(08...|57P..|53300)$/.test(code)) {
    return lost(`the database ended the connection: ${messageOf(error)}`);
  }
  return cut.test(code) ? lost('the connection to the database was cut') : undefined;
}
const readOnly = '25006';
const cut = /^(E(PIPE|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_(SSL|STREAM)\w*)$/;
const unknownAuthority = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;

/** Host and port as a person writes them. */
export const hostText = ({ name, port, isSocket }: DatabaseHost): string =>
  isSocket ? `${name}/.s.PGSQL.${port}` : `${name.includes(':') ? `[${name}]` : name}:${port}`;

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** The meanings of the database's codes, of which the first match holds; its own words are kept as the cause. */
const faults: readonly (readonly [prefix: string, fault: StoreFault])[] = [
  ['53100', { message: 'no space left on the disk of the database', hint: freeSpace }],
  ['53', { message: 'the database lacks a resource' }],
  [
    readOnly,
    { message: 'the database is read-only', hint: 'name the host that takes writes, as after a failover' },
  ],
  ['55P03', { message: 'another transaction holds it locked' }],
  ['57014', { message: 'the database took too long' }],
  ['57P', { message: 'the database ended the connection' }],
  ['08', { message: 'the connection was cut' }],
];

/** SQLSTATE; empty for what is not the database's. */
export const sqlState = (error: unknown): string => /^[0-9A-Z]{5}$/.exec(codeOf(error))?.[0] ?? '';

/** A transaction that met another one, and that works when it is tried again. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(sqlState(error));

/** A smaller batch fails for these as well: connections, rights and tables, resources, locks, an end of the server. */
const ofWholeDatabase = /^(08|25|40|42|53|55P03|57|58)/;

/** The database, or this program, did not take some of the data: a smaller batch may work. */
export function isOfData(error: unknown): boolean {
  if (error instanceof LeadsError || error instanceof LostAnswerError) return false;
  const isOfSocket = codeOf(error) !== '' && sqlState(error) === '';
  return !isOfSocket && !ofWholeDatabase.test(sqlState(error));
}

/** Whether the transaction was committed is not known. */
export class LostAnswerError extends Error {}

export const isForbidden = (error: unknown): boolean => sqlState(error) === '42501';

export const isAnswered = (error: unknown): boolean =>
  sqlState(error) !== '' && !/^(08|57P)/.test(sqlState(error));

export const namesRights = 'docs/fleet.md names the rights that a receiver needs';

function faultOf(error: unknown): StoreFault {
  if (error instanceof LeadsError) return { message: error.message, hint: error.details.hint };
  const [, fault] = faults.find(([prefix]) => sqlState(error).startsWith(prefix)) ?? [];
  return fault ?? { message: messageOf(error), hint: isForbidden(error) ? namesRights : undefined };
}

export const cannotWrite = (inbox: string, cause: unknown) => cannotStore(inbox, faultOf(cause), cause);

/** An error for people stays as it is. */
export const cannotRead = (inbox: string, cause: unknown): unknown =>
  cause instanceof LeadsError ? cause : cannotReadInbox(inbox, faultOf(cause), cause);

/** Failures that pass by themselves, or once a disk has room: a conflict, a lack, a lock, or a failure of files. */
const passing = /^(40|53|55P03|57|58)/;

export function cannotOpen(inbox: string, thrown: unknown): LeadsError {
  const cause = thrown instanceof DataError ? thrown.cause : thrown;
  if (cause instanceof LeadsError) return cause;
  const Failure = passing.test(sqlState(cause)) ? DatabaseUnavailableError : ConfigError;
  return new Failure(...cannotOpenInbox(inbox, faultOf(cause), cause));
}
