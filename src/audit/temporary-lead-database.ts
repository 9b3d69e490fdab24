import { sha256 } from '../json/bytes.ts';
import { tmpdir } from 'node:os';
import { messageOf, OutputError } from '../errors.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads, StoredLead } from '../inbox/query-types.ts';
import { Statements } from '../inbox/sqlite/driver.ts';
import { type Database, loadLibsql, type Statement } from '../inbox/sqlite/libsql.ts';
import { sqliteDialect } from '../inbox/sql/dialect.ts';
import { leadLookup } from '../inbox/sql/leads.ts';
import { bytesOf, numberOf, type Rows, textOf } from '../inbox/sql/row.ts';
import { fromColumn, type Query, toColumn } from '../inbox/sql/statement.ts';

/**
 * The part of an inbox's tables that lookups read, in a database without a name: SQLite removes its file as it makes it, so
 * that nothing stays however the process ends. Nothing in it has to be durable: its one transaction never ends.
 */
const schema = `
  PRAGMA temp_store = FILE;
  ATTACH '' AS received;
  PRAGMA received.journal_mode = OFF;
  PRAGMA received.synchronous = OFF;
  PRAGMA received.cache_size = -16384;
  BEGIN;
  CREATE TABLE received.leads (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, first_at INTEGER NOT NULL, digest BLOB NOT NULL, body BLOB
  );
  CREATE TABLE received.deliveries (
    seq INTEGER PRIMARY KEY, lead TEXT NOT NULL, received_at INTEGER NOT NULL, source TEXT NOT NULL,
    attempt INTEGER NOT NULL, body BLOB NOT NULL, lead_start INTEGER, lead_end INTEGER, first_seq INTEGER
  );
  CREATE TABLE received.erased (digest BLOB, seq INTEGER, first_at INTEGER, attempts INTEGER);
  CREATE TABLE received.forwards (lead TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
`;

/** Leads of one statement: a statement for each lead costs more than all else that is done for it. */
const leadsInStatement = 100;

const insertOf = (leads: number): string =>
  `INSERT INTO leads (id, first_at, digest, body) VALUES ${Array(leads).fill('(?, 0, ?, ?)').join()}
   ON CONFLICT (id) DO NOTHING`;

/** A lead of a file; of a bare id nothing else is known. */
export interface FiledLead {
  readonly id: string;
  readonly body: Uint8Array | undefined;
}

const noBytes = Buffer.alloc(0);

/** Any number of leads in a temporary database, for lookups. When they were received is not known. */
export class LeadDatabase implements ReceivedLeads {
  readonly #database: Database;
  readonly #lookup: ReturnType<typeof leadLookup>;
  readonly #addMany: Statement;
  readonly #findBodies: Statement;
  #size = 0;
  #hasBodies = false;

  static async open(): Promise<LeadDatabase> {
    const Libsql = await loadLibsql();
    return new LeadDatabase(new Libsql(':memory:', { timeout: 0 }));
  }

  private constructor(database: Database) {
    this.#database = database;
    database.exec(schema);
    this.#addMany = database.prepare(insertOf(leadsInStatement));
    this.#findBodies = database.prepare(
      'SELECT leads.seq, leads.id, body FROM json_each(?) JOIN leads ON leads.seq = value WHERE body IS NOT NULL',
    );
    const statements = new Statements(database);
    const read = (query: Query): Promise<Rows> => Promise.resolve(statements.run(query));
    this.#lookup = leadLookup({ dialect: sqliteDialect, read }, noBytes);
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Returns how many of the leads have an id that was not there before; of each id the first one is kept. Either all of
   * them have a body or none. Throws an `OutputError` when the temporary file cannot be written.
   */
  add(leads: readonly FiledLead[]): number {
    const before = this.#size;
    try {
      for (let start = 0; start < leads.length; start += leadsInStatement)
        this.#addSome(leads.slice(start, start + leadsInStatement));
    } catch (cause) {
      throw new OutputError(`cannot keep the leads in a file in ${tmpdir()}: ${messageOf(cause)}`, {
        hint: 'make space there, or name another directory in TMPDIR',
        cause,
      });
    }
    return this.#size - before;
  }

  #addSome(leads: readonly FiledLead[]): void {
    const values = leads.flatMap(({ id, body }) => [
      toColumn(id),
      body === undefined ? noBytes : sha256(body),
      body ?? null,
    ]);
    const isFull = leads.length === leadsInStatement;
    const insert = isFull ? this.#addMany : this.#database.prepare(insertOf(leads.length));
    this.#size += insert.run(values).changes;
    this.#hasBodies ||= leads.some(({ body }) => body !== undefined);
  }

  async lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    const leads = await this.#lookup.lookUp(leadIds);
    return leads.map((lead) => (lead?.digest === '' ? { ...lead, digest: undefined } : lead));
  }

  async *seqsSince(since: number): AsyncGenerator<readonly number[]> {
    yield* this.#lookup.seqsSince(since);
  }

  async leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    const rows = await Promise.resolve(this.#findBodies.all([JSON.stringify(seqs)]));
    return rows.map((row) => ({
      leadId: fromColumn(textOf(row['id'])),
      seq: numberOf(row['seq']),
      receivedAt: 0,
      source: 'push',
      body: bytesOf(row['body']),
    }));
  }

  /** A lead with a body keeps it. */
  async *prunedSince(since: number): AsyncGenerator<readonly PrunedLead[]> {
    if (!this.#hasBodies) yield* this.#lookup.prunedSince(since);
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }
}
