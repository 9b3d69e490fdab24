import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, OutputError } from '../errors.ts';
import type { FileProblem } from '../files/problems.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads, StoredLead } from '../inbox/query-types.ts';
import { leadLookup } from '../inbox/sqlite/lead-lookup.ts';
import { type Database, loadLibsql, type Statement, toColumn } from '../inbox/sqlite/libsql.ts';

/** The part of an inbox's tables that lookups read. Of a file that is lost with the process, nothing has to be durable. */
const schema = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA cache_size = -16384;
  CREATE TABLE leads (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, first_at INTEGER NOT NULL, digest BLOB NOT NULL)
    WITHOUT ROWID;
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY, lead TEXT NOT NULL, received_at INTEGER NOT NULL, source TEXT NOT NULL,
    attempt INTEGER NOT NULL, body BLOB NOT NULL
  );
  CREATE TABLE work (lead TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Any number of leads in a temporary database, for lookups. When they were received is not known. */
export class LeadDatabase implements ReceivedLeads {
  readonly #database: Database;
  readonly #directory: string;
  readonly #lookup: ReturnType<typeof leadLookup>;
  readonly #addId: Statement;
  readonly #addBody: Statement;
  #size = 0;

  static async open(): Promise<LeadDatabase> {
    const Libsql = await loadLibsql();
    const directory = await mkdtemp(join(tmpdir(), 'leads-'));
    try {
      const database = new LeadDatabase(
        new Libsql(join(directory, 'received.db'), { timeout: 0 }),
        directory,
      );
      // A file without a name is gone when the process ends, however it ends. Windows keeps the name until it is closed.
      await rm(directory, { recursive: true, force: true }).catch(() => undefined);
      return database;
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(database: Database, directory: string) {
    this.#database = database;
    this.#directory = directory;
    database.exec(schema);
    this.#addId = database.prepare('INSERT INTO leads VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING');
    this.#addBody = database.prepare("INSERT INTO deliveries VALUES (?, ?, 0, 'push', 1, ?)");
    this.#lookup = leadLookup({ database, version: 1, shared: undefined, erased: undefined });
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Returns how many of the leads have an id that was not there before; of each id the first one is kept. Throws an
   * `OutputError` when the temporary file cannot be written.
   */
  add(leads: readonly { readonly id: string; readonly body: Uint8Array }[]): number {
    try {
      return this.#addAll(leads);
    } catch (cause) {
      const problem: FileProblem = { kind: 'leads-not-kept', directory: tmpdir(), why: messageOf(cause) };
      throw new OutputError(problem, { cause });
    }
  }

  #addAll(leads: readonly { readonly id: string; readonly body: Uint8Array }[]): number {
    const before = this.#size;
    this.#database.exec('BEGIN');
    for (const { id, body } of leads) {
      const key = toColumn(id);
      const seq = this.#size + 1;
      if (this.#addId.run([key, seq, hash('sha256', body, 'buffer')]).changes === 0) continue;
      this.#addBody.run([seq, key, body]);
      this.#size = seq;
    }
    this.#database.exec('COMMIT');
    return this.#size - before;
  }

  async lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return this.#lookup.lookUp(leadIds);
  }

  async *seqsSince(since: number): AsyncGenerator<readonly number[]> {
    yield* this.#lookup.seqsSince(since);
  }

  /** Nothing says how they came. */
  async *backfilledSeqs(): AsyncGenerator<readonly number[]> {
    yield* await Promise.resolve([]);
  }

  async leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    return this.#lookup.leadsBySeq(seqs);
  }

  async *prunedSince(since: number): AsyncGenerator<readonly PrunedLead[]> {
    yield* this.#lookup.prunedSince(since);
  }

  async close(): Promise<void> {
    this.#database.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
