import type { Database } from './libsql.ts';
import { sqliteCode } from './sqlite-errors.ts';

/** Deliveries that one transaction drops, so that a receiver on the same inbox never waits long. */
const atOnce = 1000;

/**
 * Drops deliveries received before that time, but keeps the ids and every lead that something is still to be done for.
 * Returns how many went. The file shrinks unless somebody else is using it at that moment.
 */
export async function prune(database: Database, before: number): Promise<number> {
  const drop = database.prepare(
    `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries WHERE received_at < ?
     AND NOT EXISTS (SELECT 1 FROM leads WHERE leads.id = lead AND leads.seq = deliveries.seq AND state = 'pending')
     LIMIT ${atOnce})`,
  );
  let total = 0;
  for (;;) {
    const { changes } = drop.run([before]);
    total += changes;
    if (changes < atOnce) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (total > 0) shrink(database);
  return total;
}

function shrink(database: Database): void {
  try {
    database.exec('VACUUM');
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  } catch (error) {
    // The freed pages are used again by what comes next; only the file's size waits for another time.
    if (!sqliteCode(error).startsWith('SQLITE_BUSY')) throw error;
  }
}
