import type { InboxExtent, PrunedLead, ReceivedLead, SearchStep } from '../inbox-queries.ts';
import type {
  DroppedRepeats,
  InboxQuery,
  InboxReader,
  LeadQuery,
  LeadState,
  Outstanding,
  StoredDelivery,
  StoredLead,
} from '../inbox.ts';
import { cannotRead } from './postgres-errors.ts';
import { deliveries, searchDatabase } from './read/delivery-queries.ts';
import { IdLookup, leads, leadsBySeq } from './read/lead-queries.ts';
import { type Asking, outstandingTargets } from './read/outstanding.ts';
import { askOne, horizon, type ReadDatabase } from './read/read-database.ts';
import { bytesOfText, numberOf, sql, textOf } from './sql.ts';

/** Reads what `Inbox` names, and writes nothing. */
export class PostgresReader implements InboxReader {
  readonly location: string;
  readonly #database: ReadDatabase;
  readonly #asking: Asking;
  readonly #lookup: IdLookup;

  /** Without `asking`: for a reader that is no receiver. */
  constructor(database: ReadDatabase, asking: Asking = { wanted: [], owner: new Uint8Array() }) {
    this.location = database.connections.location;
    this.#database = database;
    this.#asking = asking;
    this.#lookup = new IdLookup(database);
  }

  list(query: InboxQuery): AsyncIterable<StoredDelivery> {
    return this.#readable(deliveries(this.#database, query));
  }

  leads(query: LeadQuery): AsyncIterable<StoredLead> {
    return this.#readable(leads(this.#database, query));
  }

  changeMark(): Promise<string> {
    return this.#answered(snapshotMark(this.#database));
  }

  extent(): Promise<InboxExtent> {
    return this.#answered(databaseExtent(this.#database));
  }

  outcomeMarks(seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return this.#answered(outcomeMarks(this.#database, seqs));
  }

  search(text: string, query: InboxQuery): AsyncIterable<SearchStep> {
    return this.#readable(searchDatabase(this.#database, text, query));
  }

  async has(leadIds: readonly string[]): Promise<ReadonlySet<string>> {
    const states = await this.states(leadIds);
    return new Set(leadIds.filter((leadId) => states.get(leadId) === 'accepted'));
  }

  states(leadIds: readonly string[]): Promise<ReadonlyMap<string, LeadState>> {
    return this.#answered(this.#lookup.states(leadIds));
  }

  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return this.#answered(this.#lookup.lookUp(leadIds));
  }

  seqsSince(since: number): AsyncIterable<readonly number[]> {
    return this.#readable(this.#lookup.seqsSince(since));
  }

  backfilledSeqs(from: number): AsyncIterable<readonly number[]> {
    return this.#readable(this.#lookup.backfilledSeqs(from));
  }

  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    return this.#answered(leadsBySeq(this.#database, seqs));
  }

  prunedSince(since: number): AsyncIterable<readonly PrunedLead[]> {
    return this.#readable(this.#lookup.prunedSince(since));
  }

  outstanding(): Promise<readonly Outstanding[]> {
    return this.#answered(outstandingTargets(this.#database, this.#asking));
  }

  async droppedRepeats(leadId: string): Promise<DroppedRepeats> {
    const [row] = await this.#answered(
      askOne(
        this.#database,
        sql`SELECT differing, same FROM ${this.#database.schema}.dropped_repeats WHERE lead = ${bytesOfText(leadId)}`,
      ),
    );
    return { differing: numberOf(row?.['differing'] ?? 0), same: numberOf(row?.['same'] ?? 0) };
  }

  close(): Promise<void> {
    return this.#database.connections.close();
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw cannotRead(this.location, error);
    }
  }

  /** What the database throws, as an error that says what can be done. */
  async *#readable<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* rows;
    } catch (error) {
      throw cannotRead(this.location, error);
    }
  }
}

/** Another text after any transaction that wrote something in this server, or began or ended. */
async function snapshotMark(database: ReadDatabase): Promise<string> {
  const [row] = await askOne(database, sql`SELECT pg_current_snapshot()::text AS mark`);
  return textOf(row?.['mark']);
}

async function databaseExtent(database: ReadDatabase): Promise<InboxExtent> {
  const newestSeq = await horizon(database);
  const [row] = await askOne(
    database,
    sql`SELECT (SELECT min(seq) FROM ${database.schema}.deliveries) AS oldest,
      (SELECT count(*) FROM ${database.schema}.erased) AS erased`,
  );
  return { newestSeq, oldestSeq: numberOf(row?.['oldest'] ?? 0), erased: numberOf(row?.['erased']) };
}

async function outcomeMarks(
  database: ReadDatabase,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await askOne(
    database,
    sql`SELECT seq, verdict, md5(results) AS results FROM ${database.schema}.deliveries
      WHERE seq = ANY(${seqs}::int8[])`,
  );
  return new Map(
    rows.map((row) => [numberOf(row['seq']), `${textOf(row['verdict'])} ${textOf(row['results'])}`]),
  );
}
