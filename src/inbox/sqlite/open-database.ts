import { randomBytes } from 'node:crypto';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { closeToOthers, makeDirectory, statIfThere } from '../../files/modes.ts';
import { inboxOfNewerVersion, otherFile } from '../errors.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { schemaOf, schemaVersion } from '../sql/schema.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { type Database, immutableUrl, loadLibsql, readOnlyUrl } from './libsql.ts';
import { overwriteErased } from './overwrite-file.ts';
import { cannotOpen } from './sqlite-errors.ts';

const lockWaitMs = 5000;

/**
 * Opens the database, and makes it when it is not there (0600; its directory 0700). Erased data that an earlier run could not overwrite
 * is overwritten now. Throws a `ConfigError` when the database cannot be used.
 */
export async function openDatabase(
  path: string,
  { warn, clock }: Pick<StoreOptions, 'warn' | 'clock'>,
): Promise<Database> {
  const Libsql = await loadLibsql();
  let database: Database | undefined;
  try {
    if (path !== inMemory) makeFile(path);
    database = new Libsql(path, { timeout: lockWaitMs });
    // This only reads, and throws for another program's database, which must stay as it is.
    isInbox(database, path);
    if (path !== inMemory) {
      // A file that cannot be written to can be opened, and would fail with each lead.
      accessSync(path, constants.W_OK);
      closeToOthers(path, statSync(path), 0o600);
    }
    // Only an empty database takes this: `cutOffFreePages` needs it.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    database.prepare('PRAGMA journal_mode = WAL').all([]);
    // An acknowledged lead must survive a power cut: every commit is synced, on macOS through the cache of the drive.
    database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    createSchema(database, path, clock.now());
    overwriteErased(database, path, warn);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof ConfigError ? error : cannotOpen(path, error);
  }
}

/** Opens an inbox for reading alone. Throws a `ConfigError` for any other file. */
export async function openReadOnly(path: string): Promise<Database> {
  const Libsql = await loadLibsql();
  const open = (url: string): Database => {
    const database = new Libsql(url, { timeout: lockWaitMs });
    try {
      if (isInbox(database, path)) return database;
      throw new ConfigError(`${path} is an empty database, not an inbox`, { hint: otherFile });
    } catch (error) {
      database.close();
      throw error;
    }
  };
  try {
    if (!statSync(path).isFile()) throw notAFile(path);
    accessSync(path, constants.R_OK);
    try {
      return open(readOnlyUrl(path));
    } catch (error) {
      // On a read-only file system SQLite cannot make the index of the log (-shm), and does without where the file never changes.
      if (error instanceof ConfigError || hasLog(path)) throw error;
      return open(immutableUrl(path));
    }
  } catch (error) {
    throw error instanceof ConfigError ? error : cannotOpen(path, error);
  }
}

const hasLog = (path: string): boolean => (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

const notAFile = (path: string): ConfigError =>
  new ConfigError(`cannot open the inbox ${path}: it is not a regular file`);

/** SQLite gives the log and its index (`-wal`, `-shm`) the mode of the file, so that the file is made here with the right one. */
function makeFile(path: string): void {
  const stats = statIfThere(path);
  makeDirectory(dirname(path), 0o700);
  // A file that exists is not opened: to close it would end the locks that this process has on it (POSIX).
  if (stats === undefined) closeSync(openSync(path, 'a', 0o600));
  // A device would get the mode 0600, and a log beside it.
  else if (!stats.isFile()) throw notAFile(path);
  else accessSync(path, constants.R_OK);
}

/** Marks the file as an inbox (the bytes of "lead"), so that another program's database is never written to. */
const applicationId = 0x6c656164;

/**
 * Whether the database has the tables of an inbox; an empty one has none yet. Only reads. Throws a `ConfigError` for a
 * database of another program, or of another version of this one.
 */
function isInbox(database: Database, path: string): boolean {
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
function createSchema(database: Database, path: string, now: number): void {
  if (isInbox(database, path)) return;
  // Another process may do the same at this moment, so that this asks once more when the lock is held.
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
