import { hasMemberId } from '../../erase/member-ids.ts';
import { bytesOf } from '../column.ts';
import type { Database } from '../libsql.ts';

/** Bodies that are read at once. */
const pageRows = 100;

/**
 * The numbers of those bodies of several leads that hold one of the ids: its record may have been dropped while others of
 * the same body stayed.
 */
export function bodiesWithIds(database: Database, leadIds: readonly string[]): readonly number[] {
  const ids = new Set(leadIds);
  const found: number[] = [];
  if (ids.size === 0) return found;
  const page = database.prepare(
    `SELECT seq, body FROM shared_content WHERE seq > ? ORDER BY seq LIMIT ${pageRows}`,
  );
  for (let after = -1; ;) {
    const rows = page.all([after]);
    for (const { seq, body } of rows) if (hasMemberId(bytesOf(body), ids)) found.push(Number(seq));
    if (rows.length < pageRows) return found;
    after = Number(rows.at(-1)?.['seq']);
  }
}
