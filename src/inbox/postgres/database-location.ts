import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { homeDirectory } from '../../config/directories.ts';
import { Secret } from '../../secret.ts';
import type { StoreOptions } from '../store-options.ts';
import {
  type DatabaseHost,
  type DatabaseUrl,
  isLocal,
  parseDatabaseUrl,
  sslModeFor,
} from './database-url.ts';
import { readFile, stat } from 'node:fs/promises';

/**
 * The place of the database of an inbox, and the passwords to log in. `renewCredentials` replaces user and password in `url`. `passwords` are
 * used where `url` has none: of `PGPASSWORD`, or of the file that `PGPASSFILE` names or `.pgpass` in the home directory. `file` is the file
 * that the URL was read from, if any. `shown` is the URL for people, without the password and parameters that name files.
 */
export interface DatabaseLocation {
  url: DatabaseUrl;
  readonly passwords: { readonly environment: Secret | undefined; readonly file: PasswordFile };
  readonly file?: string | undefined;
  readonly shown: string;
  readonly warn: StoreOptions['warn'];
}

interface LocationOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly warn: StoreOptions['warn'];
}

const weaknesses = {
  disable: 'is UNENCRYPTED: leads and the password can be read on the way',
  require: 'is encrypted, but NOT VERIFIED: another machine could stand in for the database',
  'verify-ca':
    'is NOT VERIFIED BY NAME: any machine with a certificate of that authority could stand in for it',
};

/** Reads the URL of an inbox. Throws a `ConfigError`, also where a connection to another machine would be unencrypted. */
export function databaseLocation(text: string, { env, platform, warn }: LocationOptions): DatabaseLocation {
  const url = parseDatabaseUrl(text, () => env['PGUSER'] || systemUser());
  for (const host of url.hosts.filter((address) => !isLocal(address))) {
    const mode = sslModeFor(url, host);
    const connection = `the connection to the database on ${host.name}`;
    if (mode === 'disable' && !url.isInsecure) {
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
      file: { path: env['PGPASSFILE'] || defaultPasswordFile(env, platform), hasMode: platform !== 'win32' },
    },
    shown: shownUrl(url),
    warn,
  };
}

/** The user of this process, as in libpq. In a container it may be a number without a name. */
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

function defaultPasswordFile(env: LocationOptions['env'], platform: string): string {
  const home = homeDirectory(env);
  if (platform === 'win32') return join(env['APPDATA'] ?? home ?? '', 'postgresql', 'pgpass.conf');
  return home === undefined ? '' : join(home, '.pgpass');
}

function shownUrl({ user, hosts, database, schema }: DatabaseUrl): string {
  // The authority of a URL cannot hold the path of a socket: hosts and ports are parameters then.
  const hasAuthority = hosts.every(({ isSocket }) => !isSocket);
  const authority = hosts.map(({ name, port }) => {
    const host = name.includes(':') ? `[${name}]` : name;
    return port === 5432 ? host : `${host}:${port}`;
  });
  const query = [
    ...(hasAuthority ? [] : [`host=${hosts.map(({ name }) => name).join(',')}`]),
    ...(hasAuthority || hosts.every(({ port }) => port === 5432)
      ? []
      : [`port=${hosts.map(({ port }) => port).join(',')}`]),
    ...(schema === 'leads' ? [] : [`schema=${encodeURIComponent(schema)}`]),
  ];
  const tail = query.length === 0 ? '' : `?${query.join('&')}`;
  return `postgres://${encodeURIComponent(user)}@${hasAuthority ? authority.join(',') : ''}/${encodeURIComponent(database)}${tail}`;
}

interface PasswordFile {
  readonly path: string;
  /** False on a system whose files have no modes (Windows). */
  readonly hasMode: boolean;
}

interface Account extends Pick<DatabaseUrl, 'database' | 'user'> {
  readonly host: DatabaseHost;
}

/**
 * The password for an account from a file in libpq's format (PostgreSQL, "The Password File"). It is in the first line
 * `host:port:database:user:password` whose first four fields match, where `*` matches everything and a backslash makes the next
 * character a plain one. A file that others may read is ignored with a warning, as in libpq.
 */
export async function passwordFromFile(
  file: PasswordFile,
  account: Account,
  warn: StoreOptions['warn'],
): Promise<Secret | undefined> {
  const text = await readPrivateFile(file, warn);
  const password = text === undefined ? undefined : findPassword(text, account);
  return password === undefined ? undefined : new Secret(password);
}

/** Resolves to undefined where there is no such file, and with a warning where it must not be used. */
async function readPrivateFile(
  { path, hasMode }: PasswordFile,
  warn: StoreOptions['warn'],
): Promise<string | undefined> {
  const ignore = (reason: string): void =>
    warn({ kind: 'password-file-ignored', message: `the password file ${path} is ignored: ${reason}` });
  try {
    const stats = await stat(path);
    if (!stats.isFile()) ignore('it is not a plain file');
    else if (hasMode && (stats.mode & 0o077) !== 0 && !isOfSystemd(stats))
      ignore("others may read it; make it private with 'chmod 0600'");
    else return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') ignore(`it cannot be read (${code ?? String(error)})`);
  }
  return undefined;
}

/** A credential that systemd passes to a service belongs to root, and shows its access list as the permissions of a group. */
const isOfSystemd = ({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean =>
  uid === 0 && (mode & 0o777) === 0o440;

export function findPassword(text: string, { host, database, user }: Account): string | undefined {
  const expected = [
    host.isSocket ? [host.name, 'localhost'] : [host.name],
    [String(host.port)],
    [database],
    [user],
  ];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = line.match(/(?:\\.|[^\\:])+/g) ?? [];
    const password = fields[4];
    if (password === undefined) continue;
    const isMatch = expected.every((values, i) => {
      const field = fields[i] ?? '';
      return field === '*' || values.includes(unescaped(field));
    });
    if (isMatch) return unescaped(password);
  }
  return undefined;
}

const unescaped = (field: string): string => field.replace(/\\(.)/g, '$1');
