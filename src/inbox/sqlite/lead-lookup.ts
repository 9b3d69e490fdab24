import type { PrunedLead, ReceivedLead } from '../inbox-queries.ts';
import type { StoredLead } from '../inbox.ts';
import { leadOf, type ReadDatabase } from './delivery-queries.ts';
import { fromColumn, type Statement, textOf, toColumn } from './libsql.ts';

/** Rows of the table `leads` read at once: between two reads other work of this process gets its turn. */
const pageRows = 10_000;

/**
 * Looks leads up in batches. A batch comes back as one text: the driver takes longer to make a row's object than the
 * database to find the row.
 */
export class LeadLookup {
  readonly #read: ReadDatabase;
  readonly #find: Statement;
  readonly #page: Statement;
  readonly #bySeq: Statement;
  readonly #pruned: Statement;
  readonly #backfilled: Statement;

  constructor(read: ReadDatabase) {
    this.#read = read;
    const { database, version } = read;
    this.#find = database.prepare(
      `SELECT group_concat(asked.key || ' ' || seq || ' ' || first_at || ' ' || lower(hex(digest)) || ' ' ||
         EXISTS (SELECT 1 FROM work WHERE lead = leads.id AND done = 0)) AS found
       FROM json_each(?) AS asked JOIN leads ON leads.id = asked.value`,
    );
    this.#page = database.prepare(
      `SELECT group_concat(CASE WHEN first_at >= ? THEN seq END) AS seqs, MAX(id) AS last
       FROM (SELECT id, seq, first_at FROM leads WHERE id > ? ORDER BY id LIMIT ${pageRows})`,
    );
    this.#backfilled = database.prepare(
      `SELECT MAX(seq) AS last, group_concat(CASE WHEN source = 'backfill' AND attempt = 1 AND NOT EXISTS (
         SELECT 1 FROM deliveries AS later WHERE later.lead = first.lead AND later.attempt > 1 AND later.source = 'push'
       ) THEN seq END) AS seqs
       FROM (SELECT seq, lead, source, attempt FROM deliveries WHERE seq >= ? ORDER BY seq LIMIT ${pageRows}) AS first`,
    );
    this.#bySeq = database.prepare(
      `SELECT seq, lead, received_at, source, body${version > 2 ? ', lead_start, lead_end, first_seq' : ''}
       FROM json_each(?) AS asked JOIN deliveries ON seq = asked.value`,
    );
    this.#pruned = database.prepare(
      `SELECT MAX(id) AS last, json_group_array(json_array(id, seq, first_at)) FILTER (WHERE first_at >= ? AND NOT EXISTS (
         SELECT 1 FROM deliveries WHERE deliveries.seq = page.seq
       )) AS leads FROM (SELECT id, seq, first_at FROM leads WHERE id > ? ORDER BY id LIMIT ${pageRows}) AS page`,
    );
  }

  lookUp(leadIds: readonly string[]): (ReceivedLead | undefined)[] {
    const found = new Array<ReceivedLead | undefined>(leadIds.length).fill(undefined);
    const [row] = this.#find.all([JSON.stringify(leadIds.map(toColumn))]);
    for (const text of textsIn(textOf(row?.['found']))) {
      const [at, seq, receivedAt, digest = '', isPending] = text.split(' ');
      found[Number(at)] = {
        seq: Number(seq),
        receivedAt: Number(receivedAt),
        digest,
        isPending: isPending === '1',
      };
    }
    const { erased } = this.#read;
    if (erased === undefined) return found;
    erased.refresh();
    return found.map((lead, i) => lead ?? erased.lookUp(leadIds[i] ?? ''));
  }

  async *seqsSince(since: number): AsyncGenerator<readonly number[]> {
    for (let last = ''; ;) {
      const [row] = this.#page.all([since, last]);
      if (typeof row?.['last'] !== 'string') return;
      last = row['last'];
      yield textsIn(textOf(row['seqs'])).map(Number);
      await Promise.resolve();
    }
  }

  async *backfilledSeqs(from: number): AsyncGenerator<readonly number[]> {
    for (let next = from; ;) {
      const [row] = this.#backfilled.all([next]);
      if (typeof row?.['last'] !== 'number') return;
      next = row['last'] + 1;
      yield textsIn(textOf(row['seqs'])).map(Number);
      await Promise.resolve();
    }
  }

  leadsBySeq(seqs: readonly number[]): StoredLead[] {
    this.#read.shared?.forget();
    return this.#bySeq.all([JSON.stringify(seqs)]).map((row) => leadOf(row, this.#read.shared));
  }

  async *prunedSince(since: number): AsyncGenerator<readonly PrunedLead[]> {
    for (let last = ''; ;) {
      const [row] = this.#pruned.all([since, last]);
      if (typeof row?.['last'] !== 'string') return;
      last = row['last'];
      const leads = JSON.parse(textOf(row['leads'])) as [id: string, seq: number, firstAt: number][];
      yield leads.map(([id, seq, receivedAt]) => ({ leadId: fromColumn(id), seq, receivedAt }));
      await Promise.resolve();
    }
  }
}

const textsIn = (joined: string): string[] => (joined === '' ? [] : joined.split(','));
