import { statSync } from 'node:fs';
import { ConfigError } from '../../errors.ts';
import type { InboxProblem } from '../problems.ts';
import type { Database } from './libsql.ts';

/** Marks the file as ours ("lead"), so that another program's database is never written to. */
export const applicationId = 0x6c656164;

/** The version of the tables, as `user_version` has it. */
export const schemaVersion = 1;

/**
 * Whether the database has the tables of an inbox; an empty one has none yet. Only reads. Throws a `ConfigError` for a
 * database of another program, or of another version of this one.
 */
export function isInbox(database: Database, path: string): boolean {
  if (database.prepare('SELECT name FROM sqlite_master LIMIT 1').get([]) === undefined) return false;
  if (pragma(database, 'application_id') !== applicationId) {
    throw new ConfigError({ kind: 'inbox-of-other-program', inbox: path } satisfies InboxProblem);
  }
  if (pragma(database, 'user_version') !== schemaVersion) {
    throw new ConfigError({ kind: 'inbox-of-newer-version', inbox: path } satisfies InboxProblem);
  }
  return true;
}

const pragma = (database: Database, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get([])?.[name] ?? 0);

export const hasLog = (path: string): boolean =>
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

export const notAFile = (path: string): ConfigError =>
  new ConfigError({ kind: 'inbox-is-no-file', inbox: path } satisfies InboxProblem);
