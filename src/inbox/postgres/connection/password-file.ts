import { readFile, stat } from 'node:fs/promises';
import { Secret } from '../../../secret.ts';
import type { StoreOptions } from '../../store-options.ts';
import type { DatabaseHost, DatabaseUrl } from './database-url.ts';

export interface PasswordFile {
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
