import type { ErasedCounts, Erasure } from '../../erase/erasure.ts';
import { remainingBody, remainingHeaders, remainingPath } from '../../erase/remaining-delivery.ts';
import { bytesOf, placeOf, textOf, toColumn } from '../column.ts';
import type { Database } from '../libsql.ts';
import type { ErasedTable } from '../tables/erased-table.ts';
import { isOverwriteDue } from '../schema/shrink.ts';

/**
 * Deletes what `erasure` names, inside a transaction, and notes that the file is to be written anew. The connection must
 * overwrite what it deletes (`secure_delete`). `holding`: from `bodiesWithIds`.
 */
export function eraseLeads(
  database: Database,
  { leadIds, rejected }: Erasure,
  erased: ErasedTable,
  holding: readonly number[],
): ErasedCounts {
  const counts = { leads: 0, deliveries: 0, rejected: 0, pending: 0 };
  const shared = new Set<number>();
  let isKnown = false;
  const drop = (sql: string, value: string | number): void => {
    const rows = database
      .prepare(`SELECT seq, verdict, first_seq FROM deliveries WHERE seq IN (${sql})`)
      .all([value]);
    for (const { seq = 0, verdict, first_seq: firstSeq } of rows) {
      counts[verdict === 'rejected' ? 'rejected' : 'deliveries'] += 1;
      if (typeof firstSeq === 'number') shared.add(firstSeq);
      // A trigger deletes the results of the delivery, and what it shared with others once it was the last of them.
      database.prepare('DELETE FROM deliveries WHERE seq = ?').run([Number(seq)]);
    }
  };
  for (const leadId of new Set(leadIds)) {
    const id = toColumn(leadId);
    const [lead] = database.prepare('SELECT seq, first_at, attempts FROM leads WHERE id = ?').all([id]);
    const [first] = database
      .prepare(
        `SELECT seq, received_at AS first_at, 0 AS attempts FROM deliveries
         WHERE verdict = 'rejected' AND lead = ? ORDER BY seq LIMIT 1`,
      )
      .all([id]);
    if (lead !== undefined) {
      counts.leads += 1;
      drop('?', Number(lead['seq']));
      drop('SELECT seq FROM deliveries WHERE lead = ? AND attempt > 1', id);
    }
    drop("SELECT seq FROM deliveries WHERE verdict = 'rejected' AND lead = ?", id);
    // Of an id that was only rejected, too, nothing is to be stored any more.
    const kept = lead ?? first;
    if (kept === undefined) continue;
    isKnown = true;
    const numbers = { firstAt: Number(kept['first_at']), attempts: Number(kept['attempts']) };
    erased.add(leadId, { seq: Number(kept['seq']), ...numbers });
    const [work] = database.prepare('SELECT 1 FROM work WHERE lead = ? AND done = 0 LIMIT 1').all([id]);
    if (work !== undefined) counts.pending += 1;
    for (const table of ['work', 'dropped_repeats']) {
      database.prepare(`DELETE FROM ${table} WHERE lead = ?`).run([id]);
    }
    database.prepare('DELETE FROM leads WHERE id = ?').run([id]);
  }
  for (const seq of rejected) drop("SELECT seq FROM deliveries WHERE verdict = 'rejected' AND seq = ?", seq);
  for (const firstSeq of isKnown ? [...shared, ...holding] : shared) keepRest(database, firstSeq);
  if (counts.deliveries + counts.rejected + counts.leads > 0) isOverwriteDue.set(database, true);
  return counts;
}

/** Of a delivery of several leads only those are left whose rows are. */
function keepRest(database: Database, firstSeq: number): void {
  const rest = database
    .prepare('SELECT seq, path, lead_start, lead_end FROM deliveries WHERE first_seq = ?')
    .all([firstSeq]);
  const [content] = database
    .prepare('SELECT headers, body FROM shared_content WHERE seq = ?')
    .all([firstSeq]);
  if (content === undefined) return;
  const headers = JSON.parse(textOf(content['headers'])) as [string, string][];
  const body = remainingBody(
    bytesOf(content['body']),
    rest.flatMap((row) => placeOf(row) ?? []),
  );
  database
    .prepare('UPDATE shared_content SET headers = ?, body = ? WHERE seq = ?')
    .run([JSON.stringify(remainingHeaders(headers)), body, firstSeq]);
  for (const { seq, path } of rest) {
    database
      .prepare('UPDATE deliveries SET path = ? WHERE seq = ?')
      .run([remainingPath(textOf(path)), Number(seq)]);
  }
}
