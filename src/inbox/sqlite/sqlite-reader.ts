import type { DroppedRepeats, InboxQuery, InboxReader, LeadQuery, Outstanding } from '../inbox.ts';
import { targetLabel } from '../target-name.ts';
import { textOf, toColumn } from './column.ts';
import type { Database, Statement } from './libsql.ts';
import { deliveries, leads } from './reader.ts';
import { cannotRead } from './sqlite-errors.ts';

interface SqliteReaderOptions {
  readonly location: string;
  /** Of the schema: an inbox of the version before can be read as it is. */
  readonly version: number;
  /** Targets of this receiver, as they are stored. */
  readonly wanted: readonly string[];
}

/** Reads what `Inbox` names, and writes nothing. */
export class SqliteReader implements InboxReader {
  readonly location: string;
  readonly #database: Database;
  readonly #options: SqliteReaderOptions;
  readonly #isAccepted: Statement;

  constructor(database: Database, options: SqliteReaderOptions) {
    this.location = options.location;
    this.#database = database;
    this.#options = options;
    this.#isAccepted = database.prepare("SELECT 1 FROM leads WHERE id = ? AND state = 'accepted'");
  }

  list(query: InboxQuery): ReturnType<typeof deliveries> {
    return this.#readable(deliveries(this.#database, this.#options.version, query));
  }

  leads(query: LeadQuery): ReturnType<typeof leads> {
    return this.#readable(leads(this.#database, query));
  }

  has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = leadIds.filter((leadId) => this.#isAccepted.all([toColumn(leadId)]).length > 0);
    return Promise.resolve(new Set(found));
  }

  outstanding(): Promise<readonly Outstanding[]> {
    const { version, wanted } = this.#options;
    const label = version > 1 ? '(SELECT label FROM targets WHERE name = target)' : 'target';
    const rows = this.#database
      .prepare(`SELECT target, ${label} AS label, COUNT(*) AS leads FROM work WHERE done = 0 GROUP BY target`)
      .all([]);
    const found = rows.map((row) => ({
      target: targetLabel(textOf(row['label'])),
      leads: Number(row['leads']),
      wanted: wanted.includes(textOf(row['target'])),
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

  /** What the database throws, as a `DataError` that says what can be done. */
  async *#readable<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* rows;
    } catch (error) {
      throw cannotRead(this.location, error);
    }
  }
}
