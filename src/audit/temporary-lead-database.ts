import { sha256 } from '../json/bytes.ts';
import { tmpdir } from 'node:os';
import { messageOf, OutputError } from '../errors.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads, StoredLead } from '../inbox/query-types.ts';
import { Statements } from '../inbox/sqlite/driver.ts';
import { type Database, loadLibsql, type Statement } from '../inbox/sqlite/libsql.ts';
import { sqliteDialect } from '../inbox/sql/dialect.ts';
import { leadLookup } from '../inbox/sql/leads.ts';
import { bytesOf, type Query, type Rows, textOf, toColumn } from '../inbox/sql/statement.ts';

/**
 * The part of an inbox's tables that lookups read, in a database without a name: SQLite removes its file as it makes it, so
 * that nothing stays however the process ends. Nothing in it has to be durable: its one transaction never ends. The bodies
 * are apart, some tens of them in a row: a statement for each lead costs more than all else that is done for it.
 */
const schema = `
  PRAGMA temp_store = FILE;
  ATTACH '' AS received;
  PRAGMA received.journal_mode = OFF;
  PRAGMA received.synchronous = OFF;
  PRAGMA received.cache_size = -16384;
  BEGIN;
  CREATE TABLE received.leads (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL, first_at INTEGER NOT NULL, digest BLOB NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE received.bodies (first INTEGER PRIMARY KEY, leads TEXT NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE received.deliveries (
    seq INTEGER PRIMARY KEY, lead TEXT NOT NULL, received_at INTEGER NOT NULL, source TEXT NOT NULL,
    attempt INTEGER NOT NULL, body BLOB NOT NULL, lead_start INTEGER, lead_end INTEGER, first_seq INTEGER
  );
  CREATE TABLE received.erased (digest BLOB, seq INTEGER, first_at INTEGER, attempts INTEGER);
  CREATE TABLE received.forwards (lead TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
`;

/** Leads of one statement, and bodies of one row: to read one of them, all are read. */
const mostAdded = 1000;
const bodiesInRow = 32;

const digestLength = 32;

/** A lead of a file; of a bare id nothing else is known. */
export interface FiledLead {
  readonly id: string;
  readonly body: Uint8Array | undefined;
}

/** Of one lead in a row of `bodies`: the bytes are one behind the other. */
type Listed = readonly [id: string, length: number];

interface Bodies {
  /** The number of the first of its leads. */
  readonly first: number;
  readonly leads: readonly Listed[];
  readonly bytes: Uint8Array;
}

const noBytes = Buffer.alloc(0);

/** Any number of leads in a temporary database, for lookups. When they were received is not known. */
export class LeadDatabase implements ReceivedLeads {
  readonly #database: Database;
  readonly #lookup: ReturnType<typeof leadLookup>;
  readonly #addIds: Statement;
  readonly #addBodies: Statement;
  readonly #findBodies: Statement;
  /** The number of the next lead; the first one of an id keeps its own. */
  #nextSeq = 1;
  #size = 0;
  #hasBodies = false;
  /** Leads are mostly looked for in the order of the file. */
  #lastBodies: Bodies | undefined;

  static async open(): Promise<LeadDatabase> {
    const Libsql = await loadLibsql();
    return new LeadDatabase(new Libsql(':memory:', { timeout: 0 }));
  }

  private constructor(database: Database) {
    this.#database = database;
    database.exec(schema);
    this.#addIds = database.prepare(
      `INSERT INTO leads (id, seq, first_at, digest)
       SELECT value, ? + key, 0, coalesce(substr(?, key * ${digestLength} + 1, ${digestLength}), x'') FROM json_each(?)
       WHERE TRUE ON CONFLICT DO NOTHING`,
    );
    this.#addBodies = database.prepare('INSERT INTO bodies VALUES (?, ?, ?)');
    this.#findBodies = database.prepare('SELECT * FROM bodies WHERE first <= ? ORDER BY first DESC LIMIT 1');
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
      for (let start = 0; start < leads.length; start += mostAdded)
        this.#addSome(leads.slice(start, start + mostAdded));
    } catch (cause) {
      throw new OutputError(`cannot keep the leads in a file in ${tmpdir()}: ${messageOf(cause)}`, {
        hint: 'make space there, or name another directory in TMPDIR',
        cause,
      });
    }
    return this.#size - before;
  }

  #addSome(leads: readonly FiledLead[]): void {
    const digests = leads.map(({ body }) => (body === undefined ? noBytes : sha256(body)));
    const ids = JSON.stringify(leads.map(({ id }) => toColumn(id)));
    this.#size += this.#addIds.run([this.#nextSeq, Buffer.concat(digests), ids]).changes;
    for (let start = 0; start < leads.length; start += bodiesInRow) {
      const some = leads.slice(start, start + bodiesInRow);
      const bodies = some.flatMap(({ body }) => body ?? []);
      if (bodies.length < some.length) continue;
      this.#hasBodies = true;
      const listed = some.map(({ id, body }): Listed => [id, body?.length ?? 0]);
      this.#addBodies.run([this.#nextSeq + start, JSON.stringify(listed), Buffer.concat(bodies)]);
    }
    this.#nextSeq += leads.length;
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
    const leads = await Promise.resolve([...seqs].sort((a, b) => a - b));
    return leads.flatMap((seq) => this.#leadAt(seq) ?? []);
  }

  #leadAt(seq: number): StoredLead | undefined {
    let bodies = this.#lastBodies;
    if (bodies === undefined || seq < bodies.first || seq >= bodies.first + bodies.leads.length) {
      const [row] = this.#findBodies.all([seq]);
      if (row === undefined) return undefined;
      const leads = JSON.parse(textOf(row['leads'])) as readonly Listed[];
      bodies = { first: Number(row['first']), leads, bytes: bytesOf(row['bytes']) };
      this.#lastBodies = bodies;
    }
    const place = seq - bodies.first;
    const lead = bodies.leads[place];
    if (lead === undefined) return undefined;
    const start = bodies.leads.slice(0, place).reduce((sum, [, length]) => sum + length, 0);
    const body = bodies.bytes.subarray(start, start + lead[1]);
    return { leadId: lead[0], seq, receivedAt: 0, source: 'push', body };
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
