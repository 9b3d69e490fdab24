import { ConfigError, type LeadsError, messageOf, ServiceError } from '../../../errors.ts';
import type { DatabaseHost, DatabaseUrl } from './database-url.ts';

/** The database cannot be reached, or does not answer: it may work later. Exit 5 where nothing catches it. */
export class DatabaseUnavailableError extends ServiceError {}

interface Attempt {
  readonly url: DatabaseUrl;
  readonly host: DatabaseHost;
  /** Whether a password was found. */
  readonly hasPassword: boolean;
}

/**
 * What a connection could not be opened for: a `ConfigError` when the same will fail again until somebody changes
 * something, and a `DatabaseUnavailableError` otherwise.
 */
export function openingError(error: unknown, attempt: Attempt): LeadsError {
  const { url, host, hasPassword } = attempt;
  const at = `the database on ${hostText(host)}`;
  const config = (message: string, hint?: string): ConfigError =>
    new ConfigError(message, { hint, cause: error });
  const unavailable = (message: string, hint?: string): DatabaseUnavailableError =>
    new DatabaseUnavailableError(message, { hint, cause: error });
  if (error instanceof ConfigError) return error;
  if (error instanceof SocketFault) {
    if (error.kind !== 'no TLS') return unavailable(`${at} cannot be reached: ${error.message}`);
    return config(`${at} does not offer TLS`, `turn it on there (ssl = on)${plainHint}`);
  }
  const code = codeOf(error);
  switch (code) {
    case '28P01':
      return hasPassword
        ? config(`${at} does not take the password of user '${url.user}'`, passwordHint)
        : config(`${at} asks for a password of user '${url.user}', and none was found`, passwordHint);
    case '28000':
      return config(
        `${at} does not let user '${url.user}' in: ${messageOf(error)}`,
        'pg_hba.conf of the server says who may connect from where, and whether with TLS',
      );
    case '3D000':
      return config(`${at} has no database '${url.database}'`, `make it: createdb ${url.database}`);
    case '42501':
      return config(
        `${at} does not let user '${url.user}' connect to '${url.database}'`,
        `GRANT CONNECT ON DATABASE to the role of the inbox`,
      );
    case '53300':
      return unavailable(
        `${at} has no connection left: ${messageOf(error)}`,
        'raise max_connections there, or put a pooler such as pgbouncer before it',
      );
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return config(
        `${at} has a certificate for another name`,
        'name the host as the certificate does, or use sslmode=verify-ca, which does not look at the name',
      );
    case 'CERT_HAS_EXPIRED':
      return config(`${at} has a certificate that has expired`, 'renew it on the server');
    case 'CONNECT_TIMEOUT':
      return unavailable(`${at} cannot be reached: no answer in ${url.connectTimeoutMs / 1000} s`);
    case 'ECONNREFUSED':
      return unavailable(`${at} cannot be reached: connection refused`, 'is PostgreSQL running there?');
    case 'ENOENT':
      return unavailable(`${at} cannot be reached: there is no socket`, 'is PostgreSQL running there?');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return unavailable(`${at} cannot be reached: the name is not found`, 'check its spelling, and DNS');
  }
  if (unknownAuthority.test(code)) {
    return config(
      `${at} has a certificate of an authority that is not known`,
      "name its authority's certificate: sslrootcert=/path/to/ca.pem in the URL",
    );
  }
  if (/^ERR_(SSL|TLS|OSSL)/.test(code)) return config(`${at}: TLS failed: ${messageOf(error)}`);
  return unavailable(`${at} cannot be reached: ${messageOf(error) || code}`);
}

/** A connection that broke while statements ran on it, or of which nothing more can be expected; undefined: it did not. */
export function brokenConnection(error: unknown): DatabaseUnavailableError | undefined {
  if (error instanceof SocketFault) return new DatabaseUnavailableError(error.message, { cause: error });
  const code = codeOf(error);
  if (code === readOnly) {
    return new DatabaseUnavailableError('the database is read-only, as after a failover', {
      hint: 'name all hosts in the URL, and target_session_attrs=read-write',
      cause: error,
    });
  }
  // 08: connection exceptions, 57P: the server shuts down or was started anew, 53300: a pooler has no connection left.
  if (/^(08...|57P..|53300)$/.test(code)) {
    return new DatabaseUnavailableError(`the database ended the connection: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (
    !/^(CONNECTION_\w+|CONNECT_TIMEOUT|E(PIPE|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_(SSL|STREAM)\w*)$/.test(
      code,
    )
  ) {
    return undefined;
  }
  return new DatabaseUnavailableError('the connection to the database was cut', { cause: error });
}

const readOnly = '25006';
const unknownAuthority = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;
const plainHint =
  ', or say sslmode=disable and --inbox-insecure, and leads and the password travel unencrypted';
const passwordHint = 'it is looked for in the URL, PGPASSWORD, and PGPASSFILE or ~/.pgpass';

/** As it stands in messages. */
export const hostText = ({ name, port, isSocket }: DatabaseHost): string =>
  isSocket ? `${name}/.s.PGSQL.${port}` : `${name.includes(':') ? `[${name}]` : name}:${port}`;

/** Of PostgreSQL (SQLSTATE), node or postgres.js. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** What went wrong with a connection that node has no code for. */
export type SocketFaultKind = 'connect time-out' | 'no TLS' | 'closed' | 'answer time-out';

export class SocketFault extends Error {
  readonly kind: SocketFaultKind;

  constructor(kind: SocketFaultKind, message: string) {
    super(message);
    this.name = 'SocketFault';
    this.kind = kind;
  }
}
