import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import type { Clock } from '../../time/clock.ts';
import type { InboxProblem } from '../problems.ts';
import { hasLog, notAFile, versionOf } from './database-file.ts';
import { type Database, immutableUrl, loadLibsql, readOnlyUrl } from './libsql.ts';
import { migrate } from './migrations.ts';
import { cannotOpen, sqliteCode } from './sqlite-errors.ts';

/** How long opening waits for another process's transaction, in milliseconds. */
const busyMs = 5000;

/**
 * Opens the database, makes it when it is not there (0600; its directory 0700), and brings its schema up to date. What is
 * written to it waits for another process's transaction until `failWhereLocked`. `now` in milliseconds since the epoch. Throws a
 * `ConfigError` that says why it cannot.
 */
export async function openDatabase(path: string, now: number): Promise<Database> {
  const Libsql = await loadLibsql();
  let database: Database | undefined;
  try {
    makeFile(path);
    database = new Libsql(path, { timeout: busyMs });
    // Only read so far: another program's database must stay as it is.
    versionOf(database, path);
    chmodSync(path, 0o600);
    database.prepare('PRAGMA journal_mode = WAL').all([]);
    // An acknowledged lead must survive a power cut: every commit is synced, on macOS through the cache of the drive.
    database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    migrate(database, path, now);
    overwriteClearText(database);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof ConfigError ? error : cannotOpen(path, error);
  }
}

/** From now on a transaction does not wait for another process's: it fails at once, and the event loop goes on. */
export function failWhereLocked(database: Database): void {
  database.prepare('PRAGMA busy_timeout = 0').all([]);
}

/** Opens a database that exists, of this version or the one before, and changes nothing. Throws as `openDatabase` does. */
export async function openReadOnly(path: string): Promise<{ database: Database; version: number }> {
  const Libsql = await loadLibsql();
  const open = (url: string): { database: Database; version: number } => {
    const database = new Libsql(url, { timeout: busyMs });
    try {
      const version = versionOf(database, path);
      if (version === 0) {
        throw new ConfigError({ kind: 'inbox-is-empty-database', inbox: path } satisfies InboxProblem);
      }
      return { database, version };
    } catch (error) {
      database.close();
      throw error;
    }
  };
  try {
    if (!statSync(path).isFile()) throw notAFile(path);
    try {
      return open(readOnlyUrl(path));
    } catch (error) {
      // Beside a file of a file system that is read-only, the index of its log cannot be made.
      if (error instanceof ConfigError || hasLog(path)) throw error;
      return open(immutableUrl(path));
    }
  } catch (error) {
    throw error instanceof ConfigError ? error : cannotOpen(path, error);
  }
}

/** Reads the number of the newest delivery from the database's own file, without its log; -1 where it cannot be read. */
export async function copiedSeqOf(path: string): Promise<() => number> {
  const Libsql = await loadLibsql();
  return () => {
    const database = new Libsql(immutableUrl(path), { timeout: 0 });
    try {
      return Number(database.prepare('SELECT seq FROM counter').get([])?.['seq'] ?? -1);
    } catch {
      return -1;
    } finally {
      database.close();
    }
  };
}

/** The database's companions (`-wal`, `-shm`) take their mode from the file, so it must exist with the right one. */
function makeFile(path: string): void {
  makeDirectory(dirname(path), 0o700);
  const found = statSync(path, { throwIfNoEntry: false });
  // To open and close one that is in use would end the locks that this process has on it (POSIX).
  if (found === undefined) closeSync(openSync(path, 'a', 0o600));
  // A device would get our mode, and a journal beside it.
  else if (!found.isFile()) throw notAFile(path);
}

/** Writes the file anew without free pages, unless another process uses it or the disk is full. Whether it was done. */
export const shrink = (database: Database): boolean => vacuum(database) && emptyLog(database);

/** Writes the file anew; what was there before may still be in the log. */
const vacuum = (database: Database): boolean => isDone(() => database.exec('VACUUM'));

/** Brings what is in the log to the file, and the log to no length. */
function emptyLog(database: Database): boolean {
  let isBusy = true;
  const isRun = isDone(() => {
    const [row] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    isBusy = row?.['busy'] !== 0;
  });
  return isRun && !isBusy;
}

function isDone(step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    // The freed pages are used again by what comes next; only the file stays as large until another time.
    if (!/^SQLITE_(BUSY|LOCKED|FULL)/.test(sqliteCode(error))) throw error;
    return false;
  }
}

/** Whether something was deleted of which no trace may stay, so that the file is to be written anew. */
export const isOverwriteDue = {
  get: (database: Database): boolean =>
    database.prepare('SELECT 1 FROM target_key WHERE overwrite_due = 1').all([]).length > 0,
  set: (database: Database, isDue: boolean): void =>
    database.exec(`UPDATE target_key SET overwrite_due = ${isDue ? 1 : 0}`),
};

/** Writes the file anew where that is due, now or at a later opening. */
function overwriteClearText(database: Database): void {
  if (isOverwriteDue.get(database) && shrink(database)) isOverwriteDue.set(database, false);
}

/** How long to wait for others that use the inbox, in milliseconds. */
const waitMs = 10_000;

/** Between two attempts, in milliseconds. */
const pauseMs = 50;

/** How long one attempt may wait without an event loop, in milliseconds. */
const attemptMs = 200;

/**
 * Writes the file anew and empties its log, so that nothing that was deleted stays in either. Others may go on writing:
 * they wait meanwhile. Returns why it could not be done; undefined when it was.
 */
export async function overwriteFile(
  database: Database,
  clock: Pick<Clock, 'steady' | 'sleep'>,
): Promise<string | undefined> {
  const deadline = clock.steady() + waitMs;
  const tried = async (step: () => boolean): Promise<boolean> => {
    while (!step()) {
      if (clock.steady() >= deadline) return false;
      await clock.sleep(pauseMs);
    }
    return true;
  };
  database.prepare(`PRAGMA busy_timeout = ${attemptMs}`).all([]);
  try {
    if (!(await tried(() => vacuum(database)))) {
      return 'the file could not be written anew: another process writes to it, or the disk is full';
    }
    if (!(await tried(() => emptyLog(database)))) {
      return 'its log could not be emptied: another process reads the inbox';
    }
    return undefined;
  } finally {
    database.prepare('PRAGMA busy_timeout = 0').all([]);
  }
}
