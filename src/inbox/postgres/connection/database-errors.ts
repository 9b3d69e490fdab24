import { ConfigError, type LeadsError, messageOf, ServiceError } from '../../../errors.ts';
import type { DatabaseProblem, SocketFaultKind } from '../../problems.ts';
import type { DatabaseHost, DatabaseUrl } from './database-url.ts';

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
  switch (code) {
    case '28P01':
      return { kind: hasPassword ? 'database-password-wrong' : 'database-password-missing', host, user };
    case '28000':
      return { kind: 'database-user-rejected', host, user, detail };
    case '3D000':
      return { kind: 'database-not-there', host, database };
    case '42501':
      return { kind: 'database-forbidden', host, user, database };
    case '53300':
      return { kind: 'database-has-no-connection-left', host, detail };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return { kind: 'database-certificate-rejected', host, why: 'name' };
    case 'CERT_HAS_EXPIRED':
      return { kind: 'database-certificate-rejected', host, why: 'expired' };
    case 'ECONNREFUSED':
      return { kind: 'database-unreachable', host, why: 'refused' };
    case 'ENOENT':
      return { kind: 'database-unreachable', host, why: 'no socket' };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { kind: 'database-unreachable', host, why: 'name not found' };
  }
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
