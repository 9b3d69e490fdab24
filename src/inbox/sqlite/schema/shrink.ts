import type { Database } from '../libsql.ts';
import { sqliteCode } from '../sqlite-errors.ts';

/** Writes the file anew without free pages, unless another process uses it or the disk is full. Whether it was done. */
export const shrink = (database: Database): boolean => vacuum(database) && emptyLog(database);

/** Writes the file anew; what was there before may still be in the log. */
export const vacuum = (database: Database): boolean => isDone(() => database.exec('VACUUM'));

/** Brings what is in the log to the file, and the log to no length. */
export function emptyLog(database: Database): boolean {
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
export function overwriteClearText(database: Database): void {
  if (isOverwriteDue.get(database) && shrink(database)) isOverwriteDue.set(database, false);
}
