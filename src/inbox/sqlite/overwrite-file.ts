/**
 * Deleted data stays in free pages of the file and in its log. To give their room back, free pages are cut off the end of the file. So
 * that nothing of the data is left, VACUUM rewrites the file without free pages, by way of a copy and the
 * log, and a checkpoint that truncates empties the log; both fail as long as other processes use the file. A failure is returned.
 */
import { dirname } from 'node:path';
import type { Problem } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { StoreFault } from '../errors.ts';
import { numberOf, textOf } from '../sql/row.ts';
import { type StoreOptions, turnMs } from '../store-options.ts';
import type { Database } from './libsql.ts';
import { faultOf, isBusy, isDamage, sqliteCode } from './sqlite-errors.ts';

/** Some milliseconds of work, for which receivers wait. */
const pagesAtOnce = 200;

/** Moves pages of the end into free ones, and cuts the end off, in short transactions. Throws SQLite's errors. */
export function cutOffFreePages(database: Database, clock: Pick<Clock, 'sleep'>): Promise<void> {
  return withLockWait(database, async () => {
    for (let free = countFreePages(database); free > 0;) {
      database.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
      const stillFree = countFreePages(database);
      // Another process may free pages meanwhile: they are left to the next time.
      if (stillFree >= free) break;
      free = stillFree;
      if (free > 0) await clock.sleep(turnMs);
    }
    // Adding the log makes the file shorter. A passive checkpoint keeps no writer waiting, unlike that of `emptyLog`.
    database.prepare('PRAGMA wal_checkpoint(PASSIVE)').all([]);
  });
}

const countFreePages = (database: Database): number =>
  numberOf(database.prepare('PRAGMA freelist_count').get([])?.['freelist_count']);

/** Rewrites the file without free pages, and empties its log. Returns the error of the first that failed; undefined: both are done. */
export function shrink(database: Database): unknown {
  const failure = vacuum(database);
  // After a failure, too: the log may fill the disk with what VACUUM has written to it.
  const logFailure = emptyLog(database);
  return failure ?? logFailure;
}

/**
 * VACUUM makes a copy of all live data. This tries the directory for temporary files first, then memory, where there is no such
 * directory, as in a read-only container, or the directory of the inbox, where the one for temporary files is too small.
 */
function vacuum(database: Database): unknown {
  const failure = vacuumWith(database, 'PRAGMA temp_store = FILE');
  const code = sqliteCode(failure);
  if (/^SQLITE_(CANTOPEN|IOERR)/.test(code)) return vacuumWith(database);
  if (!code.startsWith('SQLITE_FULL')) return failure;
  const path = textOf(database.prepare('PRAGMA database_list').all([])[0]?.['file']);
  const directory = dirname(path).replaceAll("'", "''");
  const settings = `PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '${directory}'`;
  return vacuumWith(database, settings) === undefined ? undefined : failure;
}

function vacuumWith(database: Database, settings?: string): unknown {
  // The log is added to the file first, since VACUUM may leave the disk no room for that.
  emptyLog(database);
  try {
    if (settings !== undefined) database.exec(settings);
    database.exec('VACUUM');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    // The directory is set for the whole process, not only for this connection.
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

/** The problem for people that the file of an inbox was not rewritten, or its log not emptied. */
export function notOverwritten(inbox: string, failure: unknown): Problem {
  const kind = isBusy(failure) ? 'inbox-in-use' : 'inbox-not-overwritten';
  if (failure instanceof LogInUseError) {
    return { kind, message: 'its log could not be emptied: another process reads the inbox' };
  }
  const { message, hint } = faultOf(inbox, failure);
  return {
    kind,
    message: `the file could not be rewritten: ${message}`,
    hint: isDamage(failure) ? hint : undefined,
  };
}

/** In bytes. To rewrite a larger file takes seconds, which a receiver that starts does not have. */
const maxOverwritten = 100 * 1024 * 1024;

/** Completes an erasure of an earlier run where its data was not overwritten. The inbox works without that, so that it only warns. */
export function overwriteErased(database: Database, inbox: string, warn: StoreOptions['warn']): void {
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
  const failure = shrink(database);
  if (failure === undefined) database.exec('UPDATE meta SET overwrite_due = 0');
  else if (!isBusy(failure)) warnOf(notOverwritten(inbox, failure));
}

/** For how long it tries where other processes use the file, and how long it pauses between two tries; in milliseconds. */
const waitMs = 10_000;
const pauseMs = 50;

/**
 * Rewrites the file and empties its log, so that nothing that was deleted stays in either. Other processes that write wait meanwhile.
 * Resolves to why it could not be done; undefined when it was.
 */
export async function overwriteFile(
  database: Database,
  inbox: string,
  clock: Pick<Clock, 'steady' | 'sleep'>,
): Promise<Problem | undefined> {
  const deadline = clock.steady() + waitMs;
  const repeatWhileBusy = async (step: () => unknown): Promise<unknown> => {
    for (;;) {
      const failure = step();
      if (!isBusy(failure) || clock.steady() >= deadline) return failure;
      await clock.sleep(pauseMs);
    }
  };
  return withLockWait(database, async () => {
    const vacuumFailure = await repeatWhileBusy(() => vacuum(database));
    const logFailure = await repeatWhileBusy(() => emptyLog(database));
    const failure = vacuumFailure ?? logFailure;
    return failure === undefined ? undefined : notOverwritten(inbox, failure);
  });
}

/** How long one statement may wait for a lock, which blocks the event loop; in milliseconds. */
const lockMs = 200;

async function withLockWait<T>(database: Database, work: () => Promise<T>): Promise<T> {
  database.prepare(`PRAGMA busy_timeout = ${lockMs}`).all([]);
  try {
    return await work();
  } finally {
    database.prepare('PRAGMA busy_timeout = 0').all([]);
  }
}
