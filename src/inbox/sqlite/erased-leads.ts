import {
  erasedIdDigest,
  hasMemberId,
  memberIds,
  remainingBody,
  remainingHeaders,
  remainingPath,
} from '../erase/remaining-delivery.ts';
import type { ReceivedLead } from '../query-types.ts';
import type { ErasedCounts, ErasedLead, Erasure, RejectedDelivery } from '../inbox.ts';
import { bytesOf, type Database, placeOf, type Statement, textOf, toColumn } from './libsql.ts';
import { isOverwriteDue } from './open-database.ts';

/** The table `erased`: what stays of leads that were erased, by a keyed digest of each id. */
export class ErasedTable {
  readonly #database: Database;
  readonly #any: Statement;
  readonly #find: Statement;
  #key: Uint8Array | undefined;
  #isEmpty = true;

  constructor(database: Database) {
    this.#database = database;
    this.#any = database.prepare('SELECT 1 FROM erased LIMIT 1');
    this.#find = database.prepare('SELECT seq, first_at, attempts FROM erased WHERE digest = ?');
  }

  /** To be called before a transaction or a batch of lookups: another process may have erased leads. */
  refresh(): void {
    this.#isEmpty = this.#any.all([]).length === 0;
  }

  find(leadId: string): ErasedLead | undefined {
    if (this.#isEmpty) return undefined;
    const [row] = this.#find.all([erasedIdDigest(this.#keyOfInbox(), leadId)]);
    return (
      row && { seq: Number(row['seq']), firstAt: Number(row['first_at']), attempts: Number(row['attempts']) }
    );
  }

  /** As `ReceivedLeads` gives it. */
  lookUp(leadId: string): ReceivedLead | undefined {
    const lead = this.find(leadId);
    return lead && { seq: lead.seq, receivedAt: lead.firstAt, digest: undefined, isPending: false };
  }

  /** Whether a rejected delivery, of which nobody knows whether it is authentic, holds a lead that was erased. */
  isIn({ leadId, delivery }: Pick<RejectedDelivery, 'leadId' | 'delivery'>): boolean {
    if (this.#isEmpty) return false;
    const ids = leadId === undefined ? memberIds(delivery.body) : [leadId];
    return ids.some((id) => this.find(id) !== undefined);
  }

  /** What was kept at an earlier time stays. */
  add(leadId: string, { seq, firstAt, attempts }: ErasedLead): void {
    this.#database
      .prepare('INSERT INTO erased VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run([erasedIdDigest(this.#keyOfInbox(), leadId), seq, firstAt, attempts]);
    this.#isEmpty = false;
  }

  /** The one that the names of targets are stored by. */
  #keyOfInbox(): Uint8Array {
    const key = (this.#key ??= this.#database.prepare('SELECT key FROM target_key').get([])?.['key'] as
      Uint8Array | undefined);
    if (key === undefined) throw new Error('the inbox has no key for the ids of erased leads');
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
