import type { Database } from './libsql.ts';
import { sqliteCode } from './sqlite-errors.ts';

/** Deliveries that one transaction drops, so that a receiver on the same inbox never waits long. */
const batchRows = 1000;

/**
 * Drops deliveries received before that time, but keeps the ids, and every lead that a target has not had. Resolves to
 * the number of dropped deliveries. The file shrinks unless another process uses it at that moment.
 */
export async function pruneDeliveries(database: Database, before: number): Promise<number> {
  const drop = database.prepare(
    `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries WHERE received_at < ?
     AND NOT EXISTS (SELECT 1 FROM leads WHERE leads.id = lead AND leads.seq = deliveries.seq AND state = 'pending')
     LIMIT ${batchRows})`,
  );
  let dropped = 0;
  for (;;) {
    const { changes } = drop.run([before]);
    dropped += changes;
    if (changes < batchRows) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (dropped > 0) shrink(database);
  return dropped;
}

function shrink(database: Database): void {
  try {
    database.exec('VACUUM');
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  } catch (error) {
    // The freed pages are used again by what comes next; only the file stays as large until another prune.
    if (!sqliteCode(error).startsWith('SQLITE_BUSY')) throw error;
  }
}
