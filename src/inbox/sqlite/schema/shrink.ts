import type { Database } from '../libsql.ts';
import { sqliteCode } from '../sqlite-errors.ts';

/** Writes the file anew without free pages, unless another process uses it or the disk is full. Whether it was done. */
export function shrink(database: Database): boolean {
  try {
    database.exec('VACUUM');
    const [row] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    return row?.['busy'] === 0;
  } catch (error) {
    // The freed pages are used again by what comes next; only the file stays as large until another time.
    if (!/^SQLITE_(BUSY|LOCKED|FULL)/.test(sqliteCode(error))) throw error;
    return false;
  }
}

/** After a migration that removed clear text: writes the file anew, now or at a later opening, so that none is left in it. */
export function overwriteClearText(database: Database): void {
  const due = database.prepare('SELECT 1 FROM target_key WHERE overwrite_due = 1');
  if (due.get([]) === undefined || !shrink(database)) return;
  database.exec('UPDATE target_key SET overwrite_due = 0');
}
