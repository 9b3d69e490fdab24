import { hash } from 'node:crypto';
import { leadBytes } from '../../lead-bytes.ts';
import { bytesOf, placeOf, sharedSeqOf, textOf } from '../column.ts';
import type { Database } from '../libsql.ts';
import { rowsOrDamage } from './readable-rows.ts';
import type { RowCopier } from './row-copier.ts';

/** Gives each delivered id whose row was not found from the ends a row: the old one, or what its deliveries tell. */
export function completeLeads(from: Database, to: Database, copier: RowCopier): void {
  const missing = to
    .prepare(
      `SELECT lead, MIN(seq) AS seq, MIN(received_at) AS first_at, MAX(attempt) AS attempts,
       MAX(verdict <> 'pending') AS accepted FROM deliveries
       WHERE verdict <> 'rejected' AND lead NOT IN (SELECT id FROM leads) GROUP BY lead`,
    )
    .all([]);
  for (const row of missing) {
    const id = textOf(row['lead']);
    const old = rowsOrDamage(from, 'SELECT * FROM leads WHERE id = ?', [id]);
    if (old !== 'damaged' && old.length > 0) {
      copier.copy('leads', old);
      continue;
    }
    const digest = hash('sha256', leadOf(to, Number(row['seq'])), 'buffer');
    const state = row['accepted'] === 1 ? 'accepted' : 'pending';
    to.prepare('INSERT INTO leads VALUES (?, ?, ?, ?, ?, ?)').run([
      id,
      Number(row['seq']),
      state,
      Number(row['first_at']),
      Number(row['attempts']),
      digest,
    ]);
  }
}

/** The own bytes of the lead of a delivery. */
function leadOf(database: Database, seq: number): Uint8Array {
  const [row = {}] = database.prepare('SELECT * FROM deliveries WHERE seq = ?').all([seq]);
  const sharedSeq = sharedSeqOf(row);
  const [shared] =
    sharedSeq === undefined
      ? [row]
      : database.prepare('SELECT body FROM shared_content WHERE seq = ?').all([sharedSeq]);
  return leadBytes(bytesOf(shared?.['body']), placeOf(row));
}
