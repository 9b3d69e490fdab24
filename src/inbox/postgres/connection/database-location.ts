import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../errors.ts';
import { homeDirectory } from '../../../config/directories.ts';
import { Secret } from '../../../secret.ts';
import type { StoreOptions } from '../../store-options.ts';
import { type DatabaseUrl, isLocal, parseDatabaseUrl, sslModeFor } from './database-url.ts';
import type { PasswordFile } from './password-file.ts';

export interface DatabaseLocation {
  /** User and password may be replaced while it is in use (`renewCredentials`). */
  url: DatabaseUrl;
  /** The variable `PGPASSWORD`, and `PGPASSFILE` or `.pgpass` in the home directory. */
  readonly passwords: { readonly environment: Secret | undefined; readonly file: PasswordFile };
  readonly file?: string | undefined;
  /** The URL as it is shown: without password, and without parameters that name files. */
  readonly shown: string;
  readonly warn: StoreOptions['warn'];
}

interface LocationOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Does what `insecure=true` in the URL does. */
  readonly allowsPlain?: boolean;
  readonly warn: StoreOptions['warn'];
}

const weaknesses = {
  disable: 'is UNENCRYPTED: leads and the password can be read on the way',
  require: 'is encrypted, but NOT VERIFIED: another machine could stand in for the database',
  'verify-ca':
    'is NOT VERIFIED BY NAME: any machine with a certificate of that authority could stand in for it',
};

/** Reads the URL of an inbox, and rejects one that would go unencrypted to another machine. Throws a `ConfigError`. */
export function databaseLocation(text: string, options: LocationOptions): DatabaseLocation {
  const { env, platform, allowsPlain, warn } = options;
  const url = parseDatabaseUrl(text, () => env['PGUSER'] || systemUser());
  for (const host of url.hosts.filter((address) => !isLocal(address))) {
    const mode = sslModeFor(url, host);
    const connection = `the connection to the database on ${host.name}`;
    if (mode === 'disable' && !url.isInsecure && allowsPlain !== true) {
      throw new ConfigError(`${connection} would be unencrypted (sslmode=disable)`, {
        hint: 'leave sslmode out of the URL, or add insecure=true to it on a network that nobody else is in',
      });
    }
    if (mode !== 'verify-full') {
      const message = `${connection} ${weaknesses[mode]} (sslmode=${mode}); verify-full is safe`;
      warn({ kind: 'database-weakly-secured', message });
    }
  }
  if (url.ignored.length > 0) {
    const message = `${url.ignored.join(', ')} in the URL of the database has no effect here`;
    warn({ kind: 'database-parameters-ignored', message });
  }
  const password = env['PGPASSWORD'];
  return {
    url,
    passwords: {
      environment: password === undefined || password === '' ? undefined : new Secret(password),
      file: { path: env['PGPASSFILE'] || usualFile(env, platform), hasMode: platform !== 'win32' },
    },
    shown: shownUrl(url),
    warn,
  };
}

/** The user that libpq takes. A container may run under a number that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new ConfigError('the URL of the database names no user, and this process runs under none', {
      hint: 'write postgres://USER@HOST/DATABASE',
      cause,
    });
  }
}

function usualFile(env: LocationOptions['env'], platform: string): string {
  const home = homeDirectory(env);
  if (platform === 'win32') return join(env['APPDATA'] ?? home ?? '', 'postgresql', 'pgpass.conf');
  return home === undefined ? '' : join(home, '.pgpass');
}

function shownUrl({ user, hosts, database, schema }: DatabaseUrl): string {
  const inPath = hosts.every(({ isSocket }) => !isSocket);
  const authority = hosts.map(({ name, port }) => {
    const host = name.includes(':') ? `[${name}]` : name;
    return port === 5432 ? host : `${host}:${port}`;
  });
  const query = [
    ...(inPath ? [] : [`host=${hosts.map(({ name }) => name).join(',')}`]),
    ...(inPath || hosts.every(({ port }) => port === 5432)
      ? []
      : [`port=${hosts.map(({ port }) => port).join(',')}`]),
    ...(schema === 'leads' ? [] : [`schema=${encodeURIComponent(schema)}`]),
  ];
  const tail = query.length === 0 ? '' : `?${query.join('&')}`;
  return `postgres://${encodeURIComponent(user)}@${inPath ? authority.join(',') : ''}/${encodeURIComponent(database)}${tail}`;
}
