import {
  grown,
  leavesAPage,
  leavesAtOnce,
  type LedgerHead,
  type MadeStatement,
  prunedAtOnce,
  type StoredLeaf,
  type UnsealedLead,
} from '../ledger.ts';
import { leafBytes, saltBytes } from '../../statement/leaf.ts';
import type { Source } from '../query-types.ts';
import { bytesOf, fromColumn, textOf, type Statements } from './libsql.ts';

/** The tables `ledger`, of one row, and `leaves`. What writes runs inside a transaction. */
export class LedgerTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  head(): LedgerHead {
    const [row] = this.#sql.all('SELECT origin, size, parts, seq, supersedes FROM ledger');
    if (row === undefined) throw new Error('the inbox has lost the head of its ledger');
    const supersedes = textOf(row['supersedes']);
    return {
      origin: textOf(row['origin']),
      size: Number(row['size']),
      parts: bytesOf(row['parts']),
      seq: Number(row['seq']),
      supersedes: supersedes === '' ? undefined : supersedes,
    };
  }

  leaves(position: number): readonly StoredLeaf[] {
    return this.#leaves(`position >= ? ORDER BY position LIMIT ${leavesAPage}`, position);
  }

  leavesOf(seqs: readonly number[]): readonly StoredLeaf[] {
    return this.#leaves('seq IN (SELECT value FROM json_each(?))', JSON.stringify(seqs));
  }

  statements(): readonly MadeStatement[] {
    return this.#sql.all('SELECT since, until, made_at FROM statements ORDER BY made_at').map((row) => ({
      since: Number(row['since']),
      until: Number(row['until']),
      madeAt: Number(row['made_at']),
    }));
  }

  addStatement({ since, until, madeAt }: MadeStatement): void {
    this.#sql.run('INSERT INTO statements VALUES (?, ?, ?)', since, until, madeAt);
  }

  restart(supersedes: string): void {
    this.#sql.run('DELETE FROM leaves');
    this.#sql.run(
      `UPDATE ledger SET origin = 'leads-ledger/' || lower(hex(randomblob(8))), size = 0, parts = x'', seq = 0,
       pruned_after = '', supersedes = ?`,
      supersedes,
    );
  }

  /** Enters the leads that come next. Whether there may be more. */
  sequence(): boolean {
    const head = this.head();
    const [row] = this.#sql.all('SELECT pruned_after FROM ledger');
    const prunedAfter = row?.['pruned_after'];
    if (typeof prunedAfter === 'string') {
      const { last, leads } = this.#pruned(prunedAfter);
      this.#append(head, head.seq, leads, last);
      return true;
    }
    const { last, leads, isMore } = this.#next(head.seq);
    if (last > head.seq) this.#append(head, last, leads, null);
    return isMore;
  }

  /** As texts of one row: a row of its own for each takes the driver four times as long. */
  #leaves(condition: string, value: number | string): readonly StoredLeaf[] {
    const [row] = this.#sql.all(
      `SELECT group_concat(seq) AS seqs, group_concat(hex(leaf)) AS leaves, group_concat(hex(salt)) AS salts
       FROM (SELECT seq, leaf, salt FROM leaves WHERE ${condition})`,
      value,
    );
    const [seqs = [], leaves = [], salts = []] = ['seqs', 'leaves', 'salts'].map((name) =>
      textOf(row?.[name]).split(','),
    );
    if (seqs[0] === '') return [];
    return seqs.map((seq, i) => {
      const salt = salts[i] ?? '';
      return {
        seq: Number(seq),
        leaf: Buffer.from(leaves[i] ?? '', 'hex'),
        salt: salt === '' ? undefined : Buffer.from(salt, 'hex'),
      };
    });
  }

  #append(head: LedgerHead, seq: number, leads: readonly UnsealedLead[], prunedAfter: string | null): void {
    const { size, parts, seqs, leaves, salts } = grown(head, leads);
    // To hand over a value costs more than to cut it out of a longer one.
    this.#sql.run(
      `INSERT INTO leaves SELECT ?1 + key, value, substr(?3, key * ${leafBytes} + 1, ${leafBytes}),
         substr(?4, key * ${saltBytes} + 1, ${saltBytes}) FROM json_each(?2) WHERE true`,
      head.size,
      JSON.stringify(seqs),
      leaves,
      salts,
    );
    const changed = this.#sql.run(
      'UPDATE ledger SET size = ?, parts = ?, seq = ?, pruned_after = ? WHERE size = ?',
      size,
      parts,
      seq,
      prunedAfter,
      head.size,
    );
    if (changed !== 1) throw new Error('the ledger has grown meanwhile');
  }

  /** By the numbers of their first deliveries. `last`: the delivery that was looked at last. */
  #next(after: number): {
    readonly last: number;
    readonly leads: readonly UnsealedLead[];
    readonly isMore: boolean;
  } {
    // The driver takes longer to make a row's object than the database to find the row.
    const [row] = this.#sql.all(
      `SELECT MAX(d.seq) AS last, COUNT(*) AS rows, json_group_array(json_array(d.seq, l.id, l.first_at, hex(l.digest), d.source))
         FILTER (WHERE l.id IS NOT NULL) AS leads
       FROM (SELECT seq, lead, source, attempt, verdict FROM deliveries WHERE seq > ? ORDER BY seq LIMIT ${leavesAtOnce}) AS d
       LEFT JOIN leads AS l ON d.attempt = 1 AND d.verdict <> 'rejected' AND l.id = d.lead AND l.seq = d.seq`,
      after,
    );
    const isMore = row?.['rows'] === leavesAtOnce;
    return { last: Number(row?.['last'] ?? after), leads: leadsIn(row?.['leads']), isMore };
  }

  /** By their ids. `last`: the id that was looked at last; null where all have been. */
  #pruned(after: string): { readonly last: string | null; readonly leads: readonly UnsealedLead[] } {
    const [row] = this.#sql.all(
      `SELECT MAX(id) AS last, json_group_array(json_array(seq, id, first_at, hex(digest), 'push')) FILTER (
         WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.seq = l.seq)
         AND NOT EXISTS (SELECT 1 FROM leaves WHERE leaves.seq = l.seq)) AS leads
       FROM (SELECT id, seq, first_at, digest FROM leads WHERE id > ? ORDER BY id LIMIT ${prunedAtOnce}) AS l`,
      after,
    );
    const last = row?.['last'];
    return { last: typeof last === 'string' ? last : null, leads: leadsIn(row?.['leads']) };
  }
}

function leadsIn(json: unknown): readonly UnsealedLead[] {
  const rows = JSON.parse(typeof json === 'string' ? json : '[]') as [
    number,
    string,
    number,
    string,
    Source,
  ][];
  return rows
    .map(([seq, id, receivedAt, digest, source]) => ({
      seq,
      leadId: fromColumn(id),
      receivedAt,
      digest: Buffer.from(digest, 'hex'),
      source,
    }))
    .sort((a, b) => a.seq - b.seq);
}
