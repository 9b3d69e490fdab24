import { ConfigError, type LeadsError, messageOf } from '../../errors.ts';
import type { Hint } from '../../front.ts';
import type { DatabaseHost, DatabaseUrl } from './connection/database-url.ts';
import { codeOf, ConnectionError, DatabaseUnavailableError } from './database-errors.ts';

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
