import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { messageOf, OutputError } from '../errors.ts';
import type { FileProblem } from '../files/problems.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads, StoredLead } from '../inbox/query-types.ts';
import { leadLookup } from '../inbox/sqlite/lead-lookup.ts';
import { type Database, loadLibsql, type Statement, toColumn } from '../inbox/sqlite/libsql.ts';

/**
 * The part of an inbox's tables that lookups read, in a database without a name: SQLite removes its file as it makes it, so
 * that nothing stays however the process ends. Nothing in it has to be durable.
 */
const schema = `
  PRAGMA temp_store = FILE;
  ATTACH '' AS received;
  PRAGMA received.journal_mode = OFF;
  PRAGMA received.synchronous = OFF;
  PRAGMA received.cache_size = -16384;
  CREATE TABLE received.leads (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL, first_at INTEGER NOT NULL, digest BLOB NOT NULL,
    state TEXT NOT NULL DEFAULT 'accepted'
  ) WITHOUT ROWID;
  CREATE TABLE received.deliveries (
    seq INTEGER PRIMARY KEY, lead TEXT NOT NULL, received_at INTEGER NOT NULL, source TEXT NOT NULL,
    attempt INTEGER NOT NULL, body BLOB NOT NULL
  );
  CREATE TABLE received.work (lead TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID;
`;

const noDigest = Buffer.alloc(0);

/** A lead of a file; of a bare id nothing else is known. */
export interface FiledLead {
  readonly id: string;
  readonly body: Uint8Array | undefined;
}

/** Any number of leads in a temporary database, for lookups. When they were received is not known. */
export class LeadDatabase implements ReceivedLeads {
  readonly #database: Database;
  readonly #lookup: ReturnType<typeof leadLookup>;
  readonly #addId: Statement;
  readonly #addBody: Statement;
  #size = 0;

  static async open(): Promise<LeadDatabase> {
    const Libsql = await loadLibsql();
    return new LeadDatabase(new Libsql(':memory:', { timeout: 0 }));
  }

  private constructor(database: Database) {
    this.#database = database;
    database.exec(schema);
    this.#addId = database.prepare(
      'INSERT INTO leads (id, seq, first_at, digest) VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING',
    );
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
  add(leads: readonly FiledLead[]): number {
    try {
      return this.#addAll(leads);
    } catch (cause) {
      const problem: FileProblem = { kind: 'leads-not-kept', directory: tmpdir(), why: messageOf(cause) };
      throw new OutputError(problem, { cause });
    }
  }

  #addAll(leads: readonly FiledLead[]): number {
    const before = this.#size;
    this.#database.exec('BEGIN');
    for (const { id, body } of leads) {
      const key = toColumn(id);
      const seq = this.#size + 1;
      const digest = body === undefined ? noDigest : hash('sha256', body, 'buffer');
      if (this.#addId.run([key, seq, digest]).changes === 0) continue;
      if (body !== undefined) this.#addBody.run([seq, key, body]);
      this.#size = seq;
    }
    this.#database.exec('COMMIT');
    return this.#size - before;
  }

  async lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    const found = await this.#lookup.lookUp(leadIds);
    return found.map((lead) => (lead?.digest === '' ? { ...lead, digest: undefined } : lead));
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

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }
}
