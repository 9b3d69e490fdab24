import { ConfigError, DataError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import { cannotStore, type CannotStoreError } from '../inbox.ts';
import {
  type DatabaseProblem,
  type InboxProblem,
  isDatabaseProblem,
  type SocketFaultKind,
  type StoreFault,
} from '../problems.ts';
import type { DatabaseHost, DatabaseUrl } from './connection/database-url.ts';

/** The database cannot be reached, or does not answer: it may work later. Exit 5 where nothing catches it. */
export class DatabaseUnavailableError extends ServiceError {
  /** @internal */
  static override readonly brand: string = 'DatabaseUnavailableError';
}

/** A fault of a connection that node has no code for. */
export class SocketFault extends Error {
  readonly kind: SocketFaultKind;
  /** How long a time-out was. */
  readonly seconds: number;

  constructor(kind: SocketFaultKind, waitedMs = 0) {
    super(kind);
    this.name = 'SocketFault';
    this.kind = kind;
    this.seconds = waitedMs / 1000;
  }
}

/** An error that the database answered. Its detail, which may show a row, is not kept. */
export class DatabaseError extends Error {
  /** SQLSTATE. */
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
  /** Whether a password was found. */
  readonly hasPassword: boolean;
}

/**
 * Makes the error of a connection that could not be opened: a `ConfigError` when a setting or the server has to be changed, and a
 * `DatabaseUnavailableError` otherwise.
 */
export function openingError(error: unknown, attempt: Attempt): LeadsError {
  if (error instanceof ConfigError) return error;
  const problem = openingProblem(error, attempt);
  const isTransient =
    problem.kind === 'database-unreachable' || problem.kind === 'database-has-no-connection-left';
  const details = { cause: error };
  return isTransient ? new DatabaseUnavailableError(problem, details) : new ConfigError(problem, details);
}

function openingProblem(error: unknown, { url, host: address, hasPassword }: Attempt): DatabaseProblem {
  const { user, database } = url;
  const host = hostText(address);
  if (error instanceof SocketFault) {
    if (error.kind === 'no TLS') return { kind: 'database-without-tls', host };
    return { kind: 'database-unreachable', host, why: socketProblem(error) };
  }
  const code = codeOf(error);
  const detail = messageOf(error);
  const problems: Readonly<Record<string, DatabaseProblem>> = {
    '28P01': { kind: hasPassword ? 'database-password-wrong' : 'database-password-missing', host, user },
    '28000': { kind: 'database-user-rejected', host, user, detail },
    '3D000': { kind: 'database-not-there', host, database },
    '42501': { kind: 'database-forbidden', host, user, database },
    '53300': { kind: 'database-has-no-connection-left', host, detail },
    ERR_TLS_CERT_ALTNAME_INVALID: { kind: 'database-certificate-rejected', host, why: 'name' },
    CERT_HAS_EXPIRED: { kind: 'database-certificate-rejected', host, why: 'expired' },
    ECONNREFUSED: { kind: 'database-unreachable', host, why: 'refused' },
    ENOENT: { kind: 'database-unreachable', host, why: 'no socket' },
    ENOTFOUND: { kind: 'database-unreachable', host, why: 'name not found' },
    EAI_AGAIN: { kind: 'database-unreachable', host, why: 'name not found' },
  };
  const problem = problems[code];
  if (problem !== undefined) return problem;
  if (unknownAuthority.test(code)) {
    return { kind: 'database-certificate-rejected', host, why: 'authority' };
  }
  if (/^ERR_(SSL|TLS|OSSL)/.test(code)) return { kind: 'database-tls-failed', host, detail };
  return { kind: 'database-unreachable', host, why: { detail: detail || code } };
}

/** A connection that broke while statements ran on it, or of which nothing more can be expected; undefined: it did not. */
export function brokenConnection(error: unknown): DatabaseUnavailableError | undefined {
  const problem = error instanceof SocketFault ? socketProblem(error) : brokenProblem(error);
  return problem && new DatabaseUnavailableError(problem, { cause: error });
}

function brokenProblem(error: unknown): DatabaseProblem | undefined {
  const code = codeOf(error);
  if (code === readOnly) return { kind: 'database-turned-read-only' };
  // 08 are connection exceptions, with 57P the server shuts down or starts, and with 53300 a pooler has no connection left.
  if (/^(08...|57P..|53300)$/.test(code)) {
    return { kind: 'database-ended-connection', detail: messageOf(error) };
  }
  return cut.test(code) ? { kind: 'database-connection-cut' } : undefined;
}

const socketProblem = ({ kind, seconds }: SocketFault): DatabaseProblem => ({
  kind: 'database-socket-failed',
  fault: kind,
  seconds,
});

const readOnly = '25006';
const cut = /^(E(PIPE|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_(SSL|STREAM)\w*)$/;
const unknownAuthority = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;

/** Host and port as a person writes them. */
export const hostText = ({ name, port, isSocket }: DatabaseHost): string =>
  isSocket ? `${name}/.s.PGSQL.${port}` : `${name.includes(':') ? `[${name}]` : name}:${port}`;

/** The code that PostgreSQL (SQLSTATE) or node gave; empty for none. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** The meanings of the database's codes, of which the first match holds; its own words are kept as the cause. */
const faults = [
  ['53100', 'postgres-disk-full'],
  ['53', 'postgres-lacks-resource'],
  ['25006', 'postgres-read-only'],
  ['55P03', 'postgres-locked'],
  ['57014', 'postgres-too-slow'],
  ['57P', 'postgres-ended-connection'],
  ['08', 'postgres-cut'],
] as const;

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

/** The error of a statement that this role may not run, in the database's own words. */
export const forbiddenTable = (table: string): DatabaseError =>
  new DatabaseError(`permission denied for table ${table}`, '42501');

/** The server answered, so that what it did is known. */
export const isAnswered = (error: unknown): boolean =>
  sqlState(error) !== '' && !/^(08|57P)/.test(sqlState(error));

/** Describes a failure as data. */
function faultOf(error: unknown): StoreFault {
  const [, kind] = faults.find(([prefix]) => sqlState(error).startsWith(prefix)) ?? [];
  if (kind !== undefined) return { kind };
  if (isForbidden(error)) return { kind: 'postgres-forbidden', detail: messageOf(error) };
  const problem = error instanceof LeadsError ? error.problem : undefined;
  if (problem !== undefined && isDatabaseProblem(problem)) return problem;
  return { kind: 'store-other-fault', detail: messageOf(error) };
}

export const cannotWrite = (inbox: string, cause: unknown): CannotStoreError =>
  cannotStore(inbox, faultOf(cause), cause);

/** An error for people stays as it is. */
export function cannotRead(inbox: string, cause: unknown): unknown {
  if (cause instanceof LeadsError) return cause;
  const problem = { kind: 'inbox-cannot-read', inbox, fault: faultOf(cause) } satisfies InboxProblem;
  return new DataError(problem, { cause });
}

/** Failures that pass by themselves, or once a disk has room: a conflict, a lack, a lock, or a failure of files. */
const passing = /^(40|53|55P03|57|58)/;

/** `thrown`: by the database, or what `cannotRead` made of it. */
export function cannotOpen(inbox: string, thrown: unknown): LeadsError {
  const cause = thrown instanceof DataError ? thrown.cause : thrown;
  if (cause instanceof LeadsError) return cause;
  const problem = { kind: 'inbox-cannot-open', inbox, fault: faultOf(cause) } satisfies InboxProblem;
  const Failure = passing.test(sqlState(cause)) ? DatabaseUnavailableError : ConfigError;
  return new Failure(problem, { cause });
}
