import { hash } from 'node:crypto';
import { bytesOf, textOf } from '../column.ts';
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
    const [first] = to.prepare('SELECT body FROM deliveries WHERE seq = ?').all([Number(row['seq'])]);
    const digest = hash('sha256', bytesOf(first?.['body']), 'buffer');
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
