import { DataError } from '../../errors.ts';
import type { LeadState } from '../inbox.ts';
import type { InboxProblem } from '../problems.ts';
import { storeReader, type StoreQueries, type StoreReader } from '../store-reader.ts';
import { targetLabel } from '../target-name.ts';
import { deliveries, leads, type ReadDatabase, searchFile } from './delivery-queries.ts';
import { SharedContentTable } from './delivery-tables.ts';
import { ErasedTable } from './erased-leads.ts';
import { deliveryCounts } from './delivery-counts.ts';
import { FileIdentity } from './file-health.ts';
import { leadLookup } from './lead-lookup.ts';
import { type Database, textOf, toColumn, Statements } from './libsql.ts';
import { receipts } from './receipts.ts';
import { cannotRead } from './sqlite-errors.ts';

interface SqliteReaderOptions {
  readonly location: string;
  /** Targets of this receiver, as they are stored. */
  readonly wanted: readonly string[];
  /** The name of this receiver; empty for a reader. */
  readonly owner: string;
}

/** Reads what `Inbox` names, and writes nothing. What the database throws becomes a `DataError` that says what can be done. */
export function sqliteReader(database: Database, options: SqliteReaderOptions): StoreReader {
  const { location, wanted, owner } = options;
  const statements = new Statements(database);
  const erased = new ErasedTable(database);
  const read: ReadDatabase = { database, shared: new SharedContentTable(statements), erased };
  const label = '(SELECT label FROM targets WHERE name = target)';
  const queries: StoreQueries = {
    ...leadLookup(read),
    ...changesOf(statements, location),
    list: (query) => deliveries(read, query),
    receipts: (query) => receipts(database, query),
    counts: (query) => deliveryCounts(database, query),
    leads: (query) => leads(read, query),
    search: (terms, query) => searchFile(read, terms, query),
    states(leadIds) {
      const found = new Map<string, LeadState>();
      erased.refresh();
      for (const leadId of leadIds) {
        const [row] = statements.all('SELECT state FROM leads WHERE id = ?', toColumn(leadId));
        if (row !== undefined) found.set(leadId, row['state'] === 'accepted' ? 'accepted' : 'pending');
        else if (erased.find(leadId) !== undefined) found.set(leadId, 'accepted');
      }
      return found;
    },
    outstanding() {
      const running =
        'EXISTS (SELECT 1 FROM receivers WHERE receivers.target = work.target AND receivers.owner <> ?)';
      const rows = statements.all(
        `SELECT target, ${label} AS label, COUNT(*) AS leads, ${running} AS elsewhere,
         SUM(dead = 0 AND due_at IS NULL) AS unscheduled, SUM(dead) AS dead FROM work WHERE done = 0 GROUP BY target`,
        owner,
      );
      const found = rows.map((row) => ({
        target: targetLabel(textOf(row['label'])),
        leads: Number(row['leads']) - Number(row['dead']),
        unscheduled: Number(row['unscheduled']),
        dead: Number(row['dead']),
        wanted: wanted.includes(textOf(row['target'])),
        wantedElsewhere: row['elsewhere'] === 1,
      }));
      return found.sort((a, b) => (a.target < b.target ? -1 : 1));
    },
    lackingTargets(leadId) {
      const rows = statements.all(
        `SELECT ${label} AS label, tries, due_at, dead FROM work WHERE lead = ? AND done = 0 ORDER BY label`,
        toColumn(leadId),
      );
      return rows.map((row) => ({
        target: targetLabel(textOf(row['label'])),
        tries: Number(row['tries']),
        dueAt: typeof row['due_at'] === 'number' && row['dead'] === 0 ? row['due_at'] : undefined,
        dead: row['dead'] === 1,
      }));
    },
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
): Pick<StoreQueries, 'changeMark' | 'extent' | 'outcomeMarks'> {
  const file = new FileIdentity(location, [location]);
  /** A file that is gone can still be read by those who have it open, and never changes again. */
  const verifyInPlace = (): void => {
    const change = file.change();
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
    extent() {
      verifyInPlace();
      const [row] = statements.all(
        `SELECT (SELECT seq FROM counter) AS newest, (SELECT MIN(seq) FROM deliveries) AS oldest,
         (SELECT COUNT(*) FROM erased) AS erased, (SELECT at FROM counted_since) AS counted_since`,
      );
      return {
        newestSeq: Number(row?.['newest'] ?? 0),
        oldestSeq: Number(row?.['oldest'] ?? 0),
        erased: Number(row?.['erased'] ?? 0),
        countedSince: Number(row?.['counted_since'] ?? 0),
      };
    },
    outcomeMarks(seqs) {
      const rows = statements.all(
        `SELECT seq, verdict, (SELECT MAX(number) FROM results WHERE results.seq = d.seq) AS results
         FROM deliveries AS d WHERE seq IN (SELECT value FROM json_each(?))`,
        JSON.stringify(seqs),
      );
      return new Map(
        rows.map((row) => [Number(row['seq']), `${textOf(row['verdict'])} ${Number(row['results'] ?? 0)}`]),
      );
    },
  };
}
