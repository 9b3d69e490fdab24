import type { Database, Row } from '../libsql.ts';
import { rowsOrDamage } from './readable-rows.ts';

/** Rows read at once. */
const pageRows = 200;

/**
 * Gives every delivery that can be read: by pages, and one number at a time through a damaged part. Returns how many
 * numbers could not be read, where a delivery may have been.
 */
export function readDeliveries(
  database: Database,
  lastSeq: number,
  use: (rows: readonly Row[]) => void,
): number {
  let unreadable = 0;
  for (let seq = 0; seq < lastSeq;) {
    const rows = rowsOrDamage(
      database,
      `SELECT * FROM deliveries WHERE seq > ? ORDER BY seq LIMIT ${pageRows}`,
      [seq],
    );
    if (rows !== 'damaged') {
      use(rows);
      if (rows.length < pageRows) break;
      seq = Number(rows.at(-1)?.['seq']);
      continue;
    }
    // Up to the first delivery that can be read behind the damage.
    for (let isBehind = false, wasDamaged = false; !isBehind && seq < lastSeq;) {
      seq += 1;
      const one = rowsOrDamage(database, 'SELECT * FROM deliveries WHERE seq = ?', [seq]);
      if (one === 'damaged') unreadable += 1;
      else use(one);
      isBehind = wasDamaged && one !== 'damaged' && one.length > 0;
      wasDamaged ||= one === 'damaged';
    }
  }
  return unreadable;
}
