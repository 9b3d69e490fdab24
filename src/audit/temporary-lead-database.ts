import { messageOf, OutputError } from '../errors.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads, StoredLead } from '../inbox/query-types.ts';
import { bytesOf, numberOf, textOf } from '../inbox/sql/row.ts';
import { fromColumn, toColumn } from '../inbox/sql/statement.ts';
import { type Database, loadLibsql, type Statement } from '../inbox/sqlite/libsql.ts';
import { sha256 } from '../json/bytes.ts';

/**
 * A database without a name: SQLite removes its file as it makes it, so that nothing stays however the process ends. Nothing
 * in it has to be durable: its one transaction never ends.
 */
const schema = `
  PRAGMA temp_store = FILE;
  ATTACH '' AS received;
  PRAGMA received.journal_mode = OFF;
  PRAGMA received.synchronous = OFF;
  PRAGMA received.cache_size = -16384;
  BEGIN;
  CREATE TABLE received.leads (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB, body BLOB);
`;

/** A statement for each lead would cost more than all else that is done for it. */
const leadsInStatement = 100;

const insertOf = (leads: number): string =>
  `INSERT INTO leads (id, digest, body) VALUES ${Array(leads).fill('(?, ?, ?)').join()} ON CONFLICT (id) DO NOTHING`;

/** A lead of an application's own file. A bare id has no body. */
export interface FiledLead {
  readonly id: string;
  readonly body: Uint8Array | undefined;
}

/** Keeps any number of leads of a file for lookups. It does not know when they were received, and gives the time 0. */
export class LeadDatabase implements ReceivedLeads {
  readonly #database: Database;
  readonly #addMany: Statement;
  readonly #lookUp: Statement;
  readonly #findBodies: Statement;
  size = 0;

  static async open(): Promise<LeadDatabase> {
    const Libsql = await loadLibsql();
    return new LeadDatabase(new Libsql(':memory:', { timeout: 0 }));
  }

  private constructor(database: Database) {
    this.#database = database;
    database.exec(schema);
    this.#addMany = database.prepare(insertOf(leadsInStatement));
    this.#lookUp = database.prepare(
      'SELECT key, seq, hex(digest) AS digest FROM json_each(?) JOIN leads ON leads.id = value',
    );
    this.#findBodies = database.prepare(
      'SELECT seq, leads.id AS lead, body FROM json_each(?) JOIN leads ON seq = value',
    );
  }

  /**
   * Returns how many of the leads have an id that was not there before; of each id the first one is kept. Either all of
   * them have a body or none. Throws an `OutputError` when the temporary file cannot be written.
   */
  add(leads: readonly FiledLead[]): number {
    const before = this.size;
    try {
      for (let start = 0; start < leads.length; start += leadsInStatement) {
        const batch = leads.slice(start, start + leadsInStatement);
        const insert =
          batch.length === leadsInStatement ? this.#addMany : this.#database.prepare(insertOf(batch.length));
        const values = batch.flatMap(({ id, body }) => [
          toColumn(id),
          body ? sha256(body) : null,
          body ?? null,
        ]);
        this.size += insert.run(values).changes;
      }
    } catch (cause) {
      throw new OutputError(`cannot keep the leads in a temporary file: ${messageOf(cause)}`, {
        hint: 'make space for temporary files, or name a directory for them in SQLITE_TMPDIR',
        cause,
      });
    }
    return this.size - before;
  }

  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    const leads: (ReceivedLead | undefined)[] = leadIds.map(() => undefined);
    for (const { key, seq, digest } of this.#lookUp.all([JSON.stringify(leadIds.map(toColumn))])) {
      leads[numberOf(key)] = {
        seq: numberOf(seq),
        receivedAt: 0,
        digest: textOf(digest).toLowerCase() || undefined,
        isWaiting: false,
      };
    }
    return Promise.resolve(leads);
  }

  async *seqsSince(): AsyncGenerator<readonly number[]> {
    for (let first = 1; first <= this.size; first += 1000) {
      const length = Math.min(1000, this.size - first + 1);
      yield await Promise.resolve(Array.from({ length }, (_, i) => first + i));
    }
  }

  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    const leads = this.#findBodies.all([JSON.stringify(seqs)]).map(({ seq, lead, body }): StoredLead => ({
      leadId: fromColumn(textOf(lead)),
      seq: numberOf(seq),
      receivedAt: 0,
      body: bytesOf(body),
    }));
    return Promise.resolve(leads);
  }

  async *prunedSince(): AsyncGenerator<readonly PrunedLead[]> {
    yield* await Promise.resolve([]);
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }
}
