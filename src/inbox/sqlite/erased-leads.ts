import {
  erasedIdDigest,
  hasMemberId,
  memberIds,
  remainingBody,
  remainingHeaders,
  remainingPath,
} from '../delivery-record.ts';
import type { ReceivedLead } from '../query-types.ts';
import type { ErasedCounts, ErasedLead, Erasure, RejectedDelivery } from '../inbox.ts';
import { bytesOf, type Database, placeOf, textOf, toColumn, Statements } from './libsql.ts';
import { isOverwriteDue } from './open-database.ts';

/** The table `erased`: what stays of leads that were erased, by a keyed digest of each id. */
export class ErasedTable {
  readonly #sql: Statements;
  #key: Uint8Array | undefined;
  #isEmpty = true;

  constructor(database: Database) {
    this.#sql = new Statements(database);
  }

  /** To be called before a transaction or a batch of lookups: another process may have erased leads. */
  refresh(): void {
    this.#isEmpty = this.#sql.all('SELECT 1 FROM erased LIMIT 1').length === 0;
  }

  find(leadId: string): ErasedLead | undefined {
    if (this.#isEmpty) return undefined;
    const digest = erasedIdDigest(this.#keyOfInbox(), leadId);
    const [row] = this.#sql.all('SELECT seq, first_at, attempts FROM erased WHERE digest = ?', digest);
    return (
      row && { seq: Number(row['seq']), firstAt: Number(row['first_at']), attempts: Number(row['attempts']) }
    );
  }

  /** As `ReceivedLeads` gives it. */
  lookUp(leadId: string): ReceivedLead | undefined {
    const lead = this.find(leadId);
    return lead && { seq: lead.seq, receivedAt: lead.firstAt, digest: undefined, isWaiting: false };
  }

  /** Whether a rejected delivery, of which nobody knows whether it is authentic, holds a lead that was erased. */
  isIn({ leadId, delivery }: Pick<RejectedDelivery, 'leadId' | 'delivery'>): boolean {
    if (this.#isEmpty) return false;
    const ids = leadId === undefined ? memberIds(delivery.body) : [leadId];
    return ids.some((id) => this.find(id) !== undefined);
  }

  /** What was kept at an earlier time stays. */
  add(leadId: string, { seq, firstAt, attempts }: ErasedLead): void {
    const digest = erasedIdDigest(this.#keyOfInbox(), leadId);
    const insert = 'INSERT INTO erased VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
    this.#sql.run(insert, digest, seq, firstAt, attempts);
    this.#isEmpty = false;
  }

  /** The one that the names of targets are stored by. */
  #keyOfInbox(): Uint8Array {
    const [row] = this.#key === undefined ? this.#sql.all('SELECT key FROM target_key') : [];
    const key = (this.#key ??= bytesOf(row?.['key']));
    if (key.length === 0) throw new Error('the inbox has no key for the ids of erased leads');
    return key;
  }
}

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
  const sql = new Statements(database);
  const counts = { leads: 0, deliveries: 0, rejected: 0, waiting: 0 };
  const shared = new Set<number>();
  let isKnown = false;
  const drop = (chosen: string, value: string | number): void => {
    const rows = sql.all(`SELECT seq, verdict, first_seq FROM deliveries WHERE seq IN (${chosen})`, value);
    for (const { seq = 0, verdict, first_seq: firstSeq } of rows) {
      counts[verdict === 'rejected' ? 'rejected' : 'deliveries'] += 1;
      if (typeof firstSeq === 'number') shared.add(firstSeq);
      // A trigger deletes the results of the delivery, and what it shared with others once it was the last of them.
      sql.run('DELETE FROM deliveries WHERE seq = ?', Number(seq));
    }
  };
  for (const leadId of new Set(leadIds)) {
    const id = toColumn(leadId);
    const [lead] = sql.all('SELECT seq, first_at, attempts FROM leads WHERE id = ?', id);
    const [first] = sql.all(
      `SELECT seq, received_at AS first_at, 0 AS attempts FROM deliveries
       WHERE verdict = 'rejected' AND lead = ? ORDER BY seq LIMIT 1`,
      id,
    );
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
    const [waiting] = sql.all("SELECT 1 FROM forwards WHERE lead = ? AND state <> 'done' LIMIT 1", id);
    if (waiting !== undefined) counts.waiting += 1;
    for (const table of ['forwards', 'dropped_repeats']) sql.run(`DELETE FROM ${table} WHERE lead = ?`, id);
    sql.run('DELETE FROM leads WHERE id = ?', id);
  }
  for (const seq of rejected) drop("SELECT seq FROM deliveries WHERE verdict = 'rejected' AND seq = ?", seq);
  for (const firstSeq of isKnown ? [...shared, ...holding] : shared) keepRest(sql, firstSeq);
  if (counts.deliveries + counts.rejected + counts.leads > 0) isOverwriteDue.set(database, true);
  return counts;
}

/** Of a delivery of several leads only those are left whose rows are. */
function keepRest(sql: Statements, firstSeq: number): void {
  const rest = sql.all(
    'SELECT seq, path, lead_start, lead_end FROM deliveries WHERE first_seq = ?',
    firstSeq,
  );
  const [content] = sql.all('SELECT headers, body FROM shared_content WHERE seq = ?', firstSeq);
  if (content === undefined) return;
  const headers = JSON.parse(textOf(content['headers'])) as [string, string][];
  const body = remainingBody(
    bytesOf(content['body']),
    rest.flatMap((row) => placeOf(row) ?? []),
  );
  const kept = JSON.stringify(remainingHeaders(headers));
  sql.run('UPDATE shared_content SET headers = ?, body = ? WHERE seq = ?', kept, body, firstSeq);
  for (const { seq, path } of rest) {
    sql.run('UPDATE deliveries SET path = ? WHERE seq = ?', remainingPath(textOf(path)), Number(seq));
  }
}

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
