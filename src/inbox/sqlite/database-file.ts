import { statSync } from 'node:fs';
import { ConfigError } from '../../errors.ts';
import type { InboxProblem } from '../problems.ts';
import { type Database, immutableUrl, loadLibsql, readOnlyUrl } from './libsql.ts';

/** Marks the file as ours ("lead"), so that another program's database is never written to. */
export const applicationId = 0x6c656164;

/** How many migrations there are. */
export const currentVersion = 6;

/** How many migrations a database has had. Only reads; throws as `migrate` does. */
export function versionOf(database: Database, path: string): number {
  const version = pragma(database, 'user_version');
  const isEmpty = database.prepare('SELECT name FROM sqlite_master LIMIT 1').get([]) === undefined;
  if (!isEmpty && pragma(database, 'application_id') !== applicationId) {
    throw new ConfigError({ kind: 'inbox-of-other-program', inbox: path } satisfies InboxProblem);
  }
  if (version > currentVersion) {
    throw new ConfigError({ kind: 'inbox-of-newer-version', inbox: path } satisfies InboxProblem);
  }
  return version;
}

const pragma = (database: Database, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get([])?.[name] ?? 0);

/**
 * Opens a database that exists to look at for a moment: without waiting for anybody, and without making or changing a
 * file, not even those beside it. Throws where that cannot be, and where it is no inbox.
 */
export async function openForGlance(path: string): Promise<Database> {
  const Libsql = await loadLibsql();
  // To open a named pipe would wait for its writer.
  if (!statSync(path).isFile()) throw notAFile(path);
  // The database makes an empty log where there is none. One that is there is read, with its index as others keep it.
  const url = hasLog(path) ? `${readOnlyUrl(path)}&readonly_shm=1` : immutableUrl(path);
  const database = new Libsql(url, { timeout: 0 });
  try {
    versionOf(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export const hasLog = (path: string): boolean =>
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

export const notAFile = (path: string): ConfigError =>
  new ConfigError({ kind: 'inbox-is-no-file', inbox: path } satisfies InboxProblem);
