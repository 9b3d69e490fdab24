import { DataError } from '../../errors.ts';
import type { InboxExtent, PrunedLead, ReceivedLead, SearchStep } from '../inbox-queries.ts';
import type {
  DroppedRepeats,
  InboxQuery,
  InboxReader,
  LeadQuery,
  LeadState,
  Outstanding,
  StoredLead,
} from '../inbox.ts';
import { targetLabel } from '../target-name.ts';
import { deliveries, leads, type ReadDatabase, searchFile } from './delivery-queries.ts';
import { SharedContentTable } from './delivery-tables.ts';
import { ErasedTable } from './erased-leads.ts';
import { FileIdentity } from './file-health.ts';
import { LeadLookup } from './lead-lookup.ts';
import { type Database, type Statement, textOf, toColumn } from './libsql.ts';
import { cannotRead } from './sqlite-errors.ts';

interface SqliteReaderOptions {
  readonly location: string;
  /** Of the schema: an inbox of the version before can be read as it is. */
  readonly version: number;
  /** Targets of this receiver, as they are stored. */
  readonly wanted: readonly string[];
  /** The name of this receiver; empty for a reader. */
  readonly owner: string;
}

/** Reads what `Inbox` names, and writes nothing. */
export class SqliteReader implements InboxReader {
  readonly location: string;
  readonly #database: Database;
  readonly #options: SqliteReaderOptions;
  readonly #read: ReadDatabase;
  readonly #stateOf: Statement;
  readonly #lookup: LeadLookup;
  readonly #changes: FileChanges;

  constructor(database: Database, options: SqliteReaderOptions) {
    this.location = options.location;
    this.#database = database;
    this.#options = options;
    const { version } = options;
    const shared = version > 2 ? new SharedContentTable(database) : undefined;
    const erased = version > 3 ? new ErasedTable(database) : undefined;
    this.#read = { database, version, shared, erased };
    this.#stateOf = database.prepare('SELECT state FROM leads WHERE id = ?');
    this.#lookup = new LeadLookup(this.#read);
    this.#changes = new FileChanges(this.#read, options.location);
  }

  list(query: InboxQuery): ReturnType<typeof deliveries> {
    return this.#readable(deliveries(this.#read, query));
  }

  leads(query: LeadQuery): ReturnType<typeof leads> {
    return this.#readable(leads(this.#read, query));
  }

  changeMark(): Promise<string> {
    return this.#answered(() => this.#changes.changeMark());
  }

  extent(): Promise<InboxExtent> {
    return this.#answered(() => this.#changes.extent());
  }

  outcomeMarks(seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return this.#answered(() => this.#changes.outcomeMarks(seqs));
  }

  search(text: string, query: InboxQuery): AsyncIterable<SearchStep> {
    return this.#readable(searchFile(this.#read, text, query));
  }

  async has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    const states = await this.states(leadIds);
    return new Set(leadIds.filter((leadId) => states.get(leadId) === 'accepted'));
  }

  states(leadIds: readonly string[]): Promise<ReadonlyMap<string, LeadState>> {
    const found = new Map<string, LeadState>();
    const { erased } = this.#read;
    erased?.refresh();
    for (const leadId of leadIds) {
      const [row] = this.#stateOf.all([toColumn(leadId)]);
      if (row !== undefined) found.set(leadId, row['state'] === 'accepted' ? 'accepted' : 'pending');
      else if (erased?.find(leadId) !== undefined) found.set(leadId, 'accepted');
    }
    return Promise.resolve(found);
  }

  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return this.#answered(() => this.#lookup.lookUp(leadIds));
  }

  seqsSince(since: number): AsyncIterable<readonly number[]> {
    return this.#readable(this.#lookup.seqsSince(since));
  }

  backfilledSeqs(from: number): AsyncIterable<readonly number[]> {
    return this.#readable(this.#lookup.backfilledSeqs(from));
  }

  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    return this.#answered(() => this.#lookup.leadsBySeq(seqs));
  }

  prunedSince(since: number): AsyncIterable<readonly PrunedLead[]> {
    return this.#readable(this.#lookup.prunedSince(since));
  }

  outstanding(): Promise<readonly Outstanding[]> {
    const { version, wanted, owner } = this.#options;
    const label = version > 1 ? '(SELECT label FROM targets WHERE name = target)' : 'target';
    const running =
      'EXISTS (SELECT 1 FROM receivers WHERE receivers.target = work.target AND receivers.owner <> ?)';
    const rows = this.#database
      .prepare(
        `SELECT target, ${label} AS label, COUNT(*) AS leads, ${version > 2 ? running : '? IS NULL'} AS elsewhere
         FROM work WHERE done = 0 GROUP BY target`,
      )
      .all([owner]);
    const found = rows.map((row) => ({
      target: targetLabel(textOf(row['label'])),
      leads: Number(row['leads']),
      wanted: wanted.includes(textOf(row['target'])),
      wantedElsewhere: row['elsewhere'] === 1,
    }));
    return Promise.resolve(found.sort((a, b) => (a.target < b.target ? -1 : 1)));
  }

  droppedRepeats(leadId: string): Promise<DroppedRepeats> {
    const row =
      this.#options.version > 1
        ? this.#database
            .prepare('SELECT differing, same FROM dropped_repeats WHERE lead = ?')
            .get([toColumn(leadId)])
        : undefined;
    return Promise.resolve({ differing: Number(row?.['differing'] ?? 0), same: Number(row?.['same'] ?? 0) });
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }

  async #answered<T>(read: () => T): Promise<T> {
    try {
      return await Promise.resolve(read());
    } catch (error) {
      throw cannotRead(this.location, error);
    }
  }

  /** What the database throws, as a `DataError` that says what can be done. */
  async *#readable<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* rows;
    } catch (error) {
      throw cannotRead(this.location, error);
    }
  }
}

/** Answers what `InboxChanges` asks, of one file; a `DataError` after it was deleted, moved or replaced. */
class FileChanges {
  readonly #database: Database;
  readonly #written: Statement;
  readonly #extent: Statement;
  readonly #marks: Statement;
  readonly #location: string;
  readonly #file: FileIdentity;

  constructor({ database, version }: Pick<ReadDatabase, 'database' | 'version'>, location: string) {
    this.#database = database;
    this.#location = location;
    this.#file = new FileIdentity(location, [location]);
    this.#written = database.prepare('SELECT total_changes() AS own');
    this.#extent = database.prepare(
      `SELECT (SELECT seq FROM counter) AS newest, (SELECT MIN(seq) FROM deliveries) AS oldest,
       ${version > 3 ? '(SELECT COUNT(*) FROM erased)' : '0'} AS erased`,
    );
    const results = version > 1 ? '(SELECT MAX(number) FROM results WHERE results.seq = d.seq)' : '0';
    this.#marks = database.prepare(
      `SELECT seq, verdict, ${results} AS results FROM deliveries AS d
       WHERE seq IN (SELECT value FROM json_each(?))`,
    );
  }

  /** The number of what other connections have committed, and of what this one has written. */
  changeMark(): string {
    this.#verifyInPlace();
    const [others] = this.#database.prepare('PRAGMA data_version').all([]);
    const [own] = this.#written.all([]);
    return `${Number(others?.['data_version'])} ${Number(own?.['own'])}`;
  }

  extent(): InboxExtent {
    this.#verifyInPlace();
    const [row] = this.#extent.all([]);
    return {
      newestSeq: Number(row?.['newest'] ?? 0),
      oldestSeq: Number(row?.['oldest'] ?? 0),
      erased: Number(row?.['erased'] ?? 0),
    };
  }

  outcomeMarks(seqs: readonly number[]): ReadonlyMap<number, string> {
    const rows = this.#marks.all([JSON.stringify(seqs)]);
    return new Map(
      rows.map((row) => [Number(row['seq']), `${textOf(row['verdict'])} ${Number(row['results'] ?? 0)}`]),
    );
  }

  /** A file that is gone can still be read by those who have it open, and never changes again. */
  #verifyInPlace(): void {
    const change = this.#file.change();
    if (change === undefined) return;
    throw new DataError(`cannot read the inbox ${this.#location}: ${change} while in use`, {
      hint: 'start leads again to read what is there now',
    });
  }
}
