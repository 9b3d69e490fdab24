import { DataError } from '../../errors.ts';
import type { InboxProblem } from '../problems.ts';
import { inMemory } from '../store-options.ts';
import { storeReader, type StoreQueries, type StoreReader } from '../store-reader.ts';
import { deliveries, leads, type ReadDatabase, leadOf } from './delivery-queries.ts';
import { SharedContentTable } from './delivery-tables.ts';
import { ErasedTable } from './erased-leads.ts';
import { deliveryCounts } from './delivery-counts.ts';
import { FileIdentity } from './file-health.ts';
import { WaitingLeads } from './forward-rows.ts';
import { type Database, textOf, toColumn, Statements, fromColumn, type Row } from './libsql.ts';
import { receipts } from './receipts.ts';
import { cannotRead } from './sqlite-errors.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads } from '../query-types.ts';

interface SqliteReaderOptions {
  readonly location: string;
  /** Targets of this receiver, as they are stored. */
  readonly own: readonly string[];
}

/** Reads what `Inbox` names, and writes nothing. What the database throws becomes a `DataError` that says what can be done. */
export function sqliteReader(database: Database, options: SqliteReaderOptions): StoreReader {
  const { location, own } = options;
  const statements = new Statements(database);
  const erased = new ErasedTable(database);
  const read: ReadDatabase = { database, shared: new SharedContentTable(statements), erased };
  const waiting = new WaitingLeads(statements);
  const queries: StoreQueries = {
    ...leadLookup(read),
    ...changesOf(statements, location),
    list: (query) => deliveries(read, query),
    receipts: (query) => receipts(database, query),
    counts: (query) => deliveryCounts(database, query),
    leads: (query) => leads(read, query),
    has(leadIds) {
      erased.refresh();
      const isKnown = (leadId: string): boolean =>
        statements.all('SELECT 1 FROM leads WHERE id = ?', toColumn(leadId)).length > 0 ||
        erased.find(leadId) !== undefined;
      return new Set(leadIds.filter(isKnown));
    },
    targetCounts: () => waiting.counts(own),
    forwards: (leadIds) => waiting.forwards(leadIds),
    droppedRepeats(leadId) {
      const [row] = statements.all(
        'SELECT differing, same FROM dropped_repeats WHERE lead = ?',
        toColumn(leadId),
      );
      return { differing: Number(row?.['differing'] ?? 0), same: Number(row?.['same'] ?? 0) };
    },
    close: () => database.close(),
  };
  return storeReader(location, queries, (cause) => cannotRead(location, cause));
}

/** What `InboxChanges` asks, of one file; a `DataError` after it was deleted, moved or replaced. */
function changesOf(
  statements: Statements,
  location: string,
): Pick<StoreQueries, 'changeMark' | 'checkReadable'> {
  const file = location === inMemory ? undefined : new FileIdentity(location);
  /** A file that is gone can still be read by those who have it open, and never changes again. */
  const verifyInPlace = (): void => {
    const change = file?.change();
    if (change === undefined) return;
    throw new DataError({ kind: 'inbox-file-changed', inbox: location, ...change } satisfies InboxProblem);
  };
  return {
    /** The number of what other connections have committed, and of what this one has written. */
    changeMark() {
      verifyInPlace();
      const [others] = statements.all('PRAGMA data_version');
      const [own] = statements.all('SELECT total_changes() AS own');
      return `${Number(others?.['data_version'])} ${Number(own?.['own'])}`;
    },
    checkReadable() {
      verifyInPlace();
      statements.all('SELECT MAX(seq) FROM deliveries');
    },
  };
}

/** Rows of the table `leads` read at once: between two reads other work of this process gets its turn. */
const pageRows = 10_000;

/**
 * Looks leads up in batches. Each column of a batch comes back as one text: the driver takes longer to make a row's object
 * than the database to find the row.
 */
export function leadLookup(read: ReadDatabase): Pick<StoreQueries, keyof ReceivedLeads> {
  const { database, shared, erased } = read;
  const find = database.prepare(
    `SELECT group_concat(asked.key) AS places, group_concat(seq) AS seqs, group_concat(first_at) AS times,
       lower(group_concat(hex(digest))) AS digests, group_concat(
       EXISTS (SELECT 1 FROM forwards WHERE lead = leads.id AND state <> 'done')) AS waiting
     FROM json_each(?) AS asked JOIN leads ON leads.id = asked.value`,
  );
  const bySeq = database.prepare(
    `SELECT seq, lead, received_at, source, body, lead_start, lead_end, first_seq
     FROM json_each(?) AS asked JOIN deliveries ON seq = asked.value`,
  );
  const backfilled = database.prepare(
    `SELECT MAX(seq) AS last, group_concat(CASE WHEN source = 'backfill' AND attempt = 1 AND NOT EXISTS (
       SELECT 1 FROM deliveries AS later WHERE later.lead = first.lead AND later.attempt > 1 AND later.source = 'push'
     ) THEN seq END) AS seqs
     FROM (SELECT seq, lead, source, attempt FROM deliveries WHERE seq >= ? ORDER BY seq LIMIT ${pageRows}) AS first`,
  );
  /** Of pages of all leads in the order of ids: `found` is made of each, with `?` for a time. */
  async function* pages(found: string, since: number): AsyncGenerator<Row> {
    const page = database.prepare(
      `SELECT ${found} AS found, MAX(id) AS last
       FROM (SELECT id, seq, first_at FROM leads WHERE id > ? ORDER BY id LIMIT ${pageRows}) AS page`,
    );
    for (let last = ''; ;) {
      const [row] = page.all([since, last]);
      if (typeof row?.['last'] !== 'string') return;
      last = row['last'];
      yield row;
      await Promise.resolve();
    }
  }
  return {
    lookUp(leadIds) {
      const found: (ReceivedLead | undefined)[] = leadIds.map(() => undefined);
      const [row] = find.all([JSON.stringify(leadIds.map(toColumn))]);
      const column = (name: string): string[] => textOf(row?.[name]).split(',');
      const [seqs, times, digests, waiting] = ['seqs', 'times', 'digests', 'waiting'].map(column);
      for (const [i, place] of textsIn(textOf(row?.['places'])).entries()) {
        found[Number(place)] = {
          seq: Number(seqs?.[i]),
          receivedAt: Number(times?.[i]),
          digest: digests?.[i],
          isWaiting: waiting?.[i] === '1',
        };
      }
      erased.refresh();
      return leadIds.map((leadId, i) => found[i] ?? erased.lookUp(leadId));
    },
    async *seqsSince(since) {
      for await (const row of pages('group_concat(CASE WHEN first_at >= ? THEN seq END)', since)) {
        yield textsIn(textOf(row['found'])).map(Number);
      }
    },
    async *backfilledSeqs(from) {
      for (let next = from; ;) {
        const [row] = backfilled.all([next]);
        if (typeof row?.['last'] !== 'number') return;
        next = row['last'] + 1;
        yield textsIn(textOf(row['seqs'])).map(Number);
        await Promise.resolve();
      }
    },
    leadsBySeq(seqs) {
      shared.forget();
      return bySeq.all([JSON.stringify(seqs)]).map((row) => leadOf(row, shared));
    },
    async *prunedSince(since) {
      const pruned = `json_group_array(json_array(id, seq, first_at)) FILTER (WHERE first_at >= ? AND NOT EXISTS (
        SELECT 1 FROM deliveries WHERE deliveries.seq = page.seq))`;
      for await (const row of pages(pruned, since)) {
        const leads = JSON.parse(textOf(row['found'])) as [id: string, seq: number, firstAt: number][];
        yield leads.map(([id, seq, receivedAt]): PrunedLead => ({ leadId: fromColumn(id), seq, receivedAt }));
      }
    },
  };
}

const textsIn = (joined: string): string[] => (joined === '' ? [] : joined.split(','));
