import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { inboxOfNewerVersion, otherFile } from '../errors.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { schemaOf, schemaVersion } from '../sql/schema.ts';
import type { Database } from './libsql.ts';

/** Marks the file as ours ("lead"), so that another program's database is never written to. */
const applicationId = 0x6c656164;

/**
 * Whether the database has the tables of an inbox; an empty one has none yet. Only reads. Throws a `ConfigError` for a
 * database of another program, or of another version of this one.
 */
export function isInbox(database: Database, path: string): boolean {
  if (database.prepare('SELECT name FROM sqlite_master LIMIT 1').get([]) === undefined) return false;
  if (pragma(database, 'application_id') !== applicationId) {
    throw new ConfigError(`${path} is the database of another program, not an inbox`, { hint: otherFile });
  }
  if (pragma(database, 'user_version') !== schemaVersion) throw inboxOfNewerVersion(path);
  return true;
}

const pragma = (database: Database, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get([])?.[name] ?? 0);

/** Makes the tables of an inbox in an empty database. `now` in milliseconds since the epoch. Throws as `isInbox` does. */
export function createSchema(database: Database, path: string, now: number): void {
  if (isInbox(database, path)) return;
  // Another process may be doing the same at this moment: look again once the lock is held.
  database.exec('BEGIN IMMEDIATE');
  try {
    if (!isInbox(database, path)) {
      for (const statement of schemaOf(sqliteDialect)) database.exec(statement.replaceAll('@', ''));
      database
        .prepare('INSERT INTO meta VALUES (?, 0, ?, 0, 0, ?, 0)')
        .run([schemaVersion, randomBytes(32), Math.round(now)]);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
