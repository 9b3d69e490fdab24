import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError, type Problem } from '../../errors.ts';
import { closeToOthers, makeDirectory } from '../../files/modes.ts';
import type { Clock } from '../../time/clock.ts';
import { otherFile, type StoreFault } from '../errors.ts';
import { inMemory, type StoreOptions } from '../store-options.ts';
import { createSchema, isInbox } from './create-schema.ts';
import { textOf } from '../sql/row.ts';
import { type Database, immutableUrl, loadLibsql, readOnlyUrl } from './libsql.ts';
import { cannotOpen, faultOf, isBusy, isDamage, sqliteCode } from './sqlite-errors.ts';

const busyMs = 5000;

/**
 * Opens the database, and makes it when it is not there (0600; its directory 0700). What is written to it waits for another
 * process's transaction for five seconds. Throws a `ConfigError` that says why it cannot.
 */
export async function openDatabase(
  path: string,
  { warn, clock }: Pick<StoreOptions, 'warn' | 'clock'>,
): Promise<Database> {
  const Libsql = await loadLibsql();
  let database: Database | undefined;
  try {
    if (path !== inMemory) makeFile(path);
    database = new Libsql(path, { timeout: busyMs });
    // Only read so far: another program's database must stay as it is.
    isInbox(database, path);
    if (path !== inMemory) {
      // A file that cannot be written to opens as well, and would fail with each lead.
      accessSync(path, constants.W_OK);
      closeToOthers(path, statSync(path), 0o600);
    }
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

export async function openReadOnly(path: string): Promise<Database> {
  const Libsql = await loadLibsql();
  const open = (url: string): Database => {
    const database = new Libsql(url, { timeout: busyMs });
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

const hasLog = (path: string): boolean => (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

const notAFile = (path: string): ConfigError =>
  new ConfigError(`cannot open the inbox ${path}: it is not a regular file`);

/** The database's companions (`-wal`, `-shm`) take their mode from the file, so it must exist with the right one. */
function makeFile(path: string): void {
  makeDirectory(dirname(path), 0o700);
  const stats = statSync(path, { throwIfNoEntry: false });
  // To open and close one that is in use would end the locks that this process has on it (POSIX).
  if (stats === undefined) closeSync(openSync(path, 'a', 0o600));
  // A device would get our mode, and a journal beside it.
  else if (!stats.isFile()) throw notAFile(path);
}

/** Rewrites the file without free pages, and empties its log. Returns what it failed with; undefined when it was done. */
export function shrink(database: Database): unknown {
  const failed = vacuum(database);
  // The disk may be full of what was written to the log so far.
  const logFailure = emptyLog(database);
  return failed ?? logFailure;
}

function vacuum(database: Database): unknown {
  // A copy of all that is live is made on the way, which the database would hold in memory.
  const failed = vacuumWith(database, 'PRAGMA temp_store = FILE');
  const code = sqliteCode(failed);
  // Perhaps there is no directory for temporary files, as in a container that is read-only.
  if (/^SQLITE_(CANTOPEN|IOERR)/.test(code)) return vacuumWith(database);
  if (!code.startsWith('SQLITE_FULL')) return failed;
  // Perhaps that directory is a small one in memory, and there is room beside the inbox.
  const path = textOf(database.prepare('PRAGMA database_list').all([])[0]?.['file']);
  const directory = dirname(path).replaceAll("'", "''");
  const settings = `PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '${directory}'`;
  return vacuumWith(database, settings) === undefined ? undefined : failed;
}

function vacuumWith(database: Database, settings?: string): unknown {
  // A disk that is full of what follows has no room for what the log would add to the file.
  emptyLog(database);
  try {
    if (settings !== undefined) database.exec(settings);
    database.exec('VACUUM');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    // The setting of the directory holds for the whole process.
    database.exec("PRAGMA temp_store = DEFAULT; PRAGMA temp_store_directory = ''");
  }
}

function emptyLog(database: Database): unknown {
  try {
    const [row] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    return row?.['busy'] === 0 ? undefined : new LogInUseError('somebody reads what is in the log');
  } catch (error) {
    return error;
  }
}

class LogInUseError extends Error {
  readonly code = 'SQLITE_BUSY';
}

export function notOverwritten(inbox: string, failed: unknown): Problem {
  const kind = isBusy(failed) ? 'inbox-in-use' : 'inbox-not-overwritten';
  if (failed instanceof LogInUseError) {
    return { kind, message: 'its log could not be emptied: another process reads the inbox' };
  }
  const { message, hint } = faultOf(inbox, failed);
  return {
    kind,
    message: `the file could not be rewritten: ${message}`,
    hint: isDamage(failed) ? hint : undefined,
  };
}

/** A file with more in it takes seconds to be rewritten, in bytes; a receiver must be listening by then. */
const maxOverwritten = 100 * 1024 * 1024;

/** Rewrites the file where that is due, now or later: the inbox works without that. */
function overwriteErased(database: Database, inbox: string, warn: StoreOptions['warn']): void {
  if (database.prepare('SELECT 1 FROM meta WHERE overwrite_due = 1').all([]).length === 0) return;
  const warnOf = ({ message, hint = "the next 'leads inbox erase' completes it" }: StoreFault): void =>
    warn({
      kind: 'inbox-holds-erased',
      message: `the inbox ${inbox} still holds a copy of what was erased: ${message}`,
      hint,
    });
  const [size] = database
    .prepare(
      'SELECT (page_count - freelist_count) * page_size AS used FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
    )
    .all([]);
  if (Number(size?.['used']) > maxOverwritten) {
    warnOf({ message: 'it is too large to be rewritten at a start' });
    return;
  }
  const failed = shrink(database);
  if (failed === undefined) database.exec('UPDATE meta SET overwrite_due = 0');
  else if (!isBusy(failed)) warnOf(notOverwritten(inbox, failed));
}

const waitMs = 10_000;

const pauseMs = 50;

/** How long one attempt may wait without an event loop, in milliseconds. */
const attemptMs = 200;

/**
 * Rewrites the file and empties its log, so that nothing that was deleted stays in either. Other processes may go on
 * writing: they wait meanwhile. Returns why it could not be done; undefined when it was.
 */
export async function overwriteFile(
  database: Database,
  inbox: string,
  clock: Pick<Clock, 'steady' | 'sleep'>,
): Promise<Problem | undefined> {
  const deadline = clock.steady() + waitMs;
  /** Only others that use the file may be gone a moment later. */
  const tried = async (step: () => unknown): Promise<unknown> => {
    for (;;) {
      const failed = step();
      if (!isBusy(failed) || clock.steady() >= deadline) return failed;
      await clock.sleep(pauseMs);
    }
  };
  database.prepare(`PRAGMA busy_timeout = ${attemptMs}`).all([]);
  try {
    const failed = await tried(() => vacuum(database));
    const logFailure = await tried(() => emptyLog(database));
    const failure = failed ?? logFailure;
    return failure === undefined ? undefined : notOverwritten(inbox, failure);
  } finally {
    database.prepare('PRAGMA busy_timeout = 0').all([]);
  }
}
