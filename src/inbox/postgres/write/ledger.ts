import type { Clock } from '../../../time/clock.ts';
import {
  DelayedSequencing,
  delayMs,
  grown,
  type Ledger,
  type LedgerHead,
  leavesAPage,
  leavesAtOnce,
  leavesFrom,
  type MadeStatement,
  pauseMs,
  prunedAtOnce,
  type StoredLeaf,
  type UnsealedLead,
} from '../../ledger.ts';
import { leafBytes, saltBytes } from '../../../statement/leaf.ts';
import type { Source } from '../../query-types.ts';
import type { StoreOptions } from '../../store-options.ts';
import type { Connection } from '../connection/database-connections.ts';
import { newOrigin } from '../migrations.ts';
import { cannotRead, cannotWrite, isForbidden } from '../postgres-errors.ts';
import {
  askOne,
  type Horizon,
  horizonIn,
  horizonQuestions,
  type OpenedSchema,
  storedText,
} from '../read/read-database.ts';
import {
  bytesOf,
  integerLiteral,
  isNull,
  numberOf,
  own,
  type Row,
  type Rows,
  type Sql,
  sql,
  textOf,
} from '../sql.ts';
import { commit, inTransaction, runToCommit } from './write-guard.ts';

/** Between two looks at whether transactions that are under way have ended, in milliseconds. */
const heldBackMs = 50;

interface LedgerOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly warn: StoreOptions['warn'];
}

/** The tables `ledger`, of one row, and `leaves`, which all receivers of a database grow. */
export class PostgresLedger implements Ledger {
  readonly #database: OpenedSchema;
  readonly #clock: LedgerOptions['clock'];
  readonly #sequencing: DelayedSequencing;
  readonly #closed = new AbortController();
  /** How far the leads were entered when this receiver last looked. */
  #seen: number | undefined;

  constructor(database: OpenedSchema, { clock, warn }: LedgerOptions) {
    this.#database = database;
    this.#clock = clock;
    let isSaid = false;
    this.#sequencing = new DelayedSequencing(
      clock,
      () => this.#enterInTurn(),
      (error) => {
        if (!isForbidden(error) || isSaid) return;
        isSaid = true;
        warn({ kind: 'ledger-forbidden', inbox: database.connections.location });
      },
    );
  }

  /** After leads were stored. */
  soon(): void {
    this.#sequencing.soon();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#sequencing.close();
  }

  async sequence(): Promise<void> {
    const { last, drawn } = await this.sequenceVisible();
    // Later numbers are of leads that are stored meanwhile.
    for (let entered = last; entered < drawn; entered = (await this.sequenceVisible()).last)
      await this.#clock.sleep(heldBackMs, this.#closed.signal);
  }

  /** Enters what no transaction that is under way holds back. */
  async sequenceVisible(): Promise<Horizon> {
    for (;;) {
      const { isMore, horizon } = await this.#written(() => enterNext(this.#database));
      if (!isMore) return horizon;
    }
  }

  async head(): Promise<LedgerHead> {
    return headIn(await this.#rows(headOf(this.#database.schema)));
  }

  leaves(): AsyncIterable<readonly StoredLeaf[]> {
    return leavesFrom((position) =>
      this.#leaves(sql`position >= ${position} ORDER BY position LIMIT ${leavesAPage}`),
    );
  }

  leavesOf(seqs: readonly number[]): Promise<readonly StoredLeaf[]> {
    return this.#leaves(sql`seq = ANY(${seqs}::int8[])`);
  }

  async restart(supersedes: string): Promise<void> {
    const { schema } = this.#database;
    // The head first: a receiver that enters leads holds its lock.
    await this.#write(sql`UPDATE ${schema}.ledger SET origin = ${newOrigin}, size = 0, parts = '', seq = 0,
        pruned_after = '', supersedes = ${own(supersedes)}::text;
      DELETE FROM ${schema}.leaves;`);
  }

  async statements(): Promise<readonly MadeStatement[]> {
    const { schema } = this.#database;
    const rows = await this.#rows(
      sql`SELECT since, until, made_at FROM ${schema}.statements ORDER BY made_at`,
    );
    return rows.map((row) => ({
      since: numberOf(row['since']),
      until: numberOf(row['until']),
      madeAt: numberOf(row['made_at']),
    }));
  }

  async addStatement({ since, until, madeAt }: MadeStatement): Promise<void> {
    const { schema } = this.#database;
    await this.#write(sql`INSERT INTO ${schema}.statements VALUES (${since}, ${until}, ${madeAt});`);
  }

  /**
   * One receiver of a database enters leads, and the others only look whether it still does: for as long as the ledger
   * grows by what they did not enter. Resolves as what `DelayedSequencing` calls.
   */
  async #enterInTurn(): Promise<number | undefined> {
    const { schema } = this.#database;
    const [row = {}] = await askOne(
      this.#database,
      sql`SELECT seq, pruned_after IS NULL AND seq >= last_value AS is_done FROM ${schema}.ledger, ${schema}.delivery_numbers`,
    );
    const [before, seq] = [this.#seen, numberOf(row['seq'])];
    this.#seen = seq;
    if (row['is_done'] === true) return undefined;
    if (seq !== (before ?? seq)) return standbyMs;
    const { isMore, horizon, entered } = await enterNext(this.#database);
    this.#seen = entered;
    if (isMore) return pauseMs;
    return horizon.last < horizon.drawn ? delayMs : undefined;
  }

  async #leaves(condition: Sql): Promise<readonly StoredLeaf[]> {
    const { schema } = this.#database;
    const rows = await this.#rows(
      sql`SELECT seq, encode(leaf, 'hex') AS leaf, encode(salt, 'hex') AS salt FROM ${schema}.leaves WHERE ${condition}`,
    );
    return rows.map((row) => ({
      seq: numberOf(row['seq']),
      leaf: bytesOf(row['leaf']),
      salt: isNull(row['salt']) ? undefined : bytesOf(row['salt']),
    }));
  }

  async #rows(statement: Sql): Promise<Rows> {
    try {
      return await askOne(this.#database, statement);
    } catch (error) {
      throw cannotRead(this.#database.connections.location, error);
    }
  }

  #write(change: Sql): Promise<void> {
    return this.#written(() => commit(this.#database, change));
  }

  async #written<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw cannotWrite(this.#database.connections.location, error);
    }
  }
}

/**
 * Until a receiver looks again whether another one enters leads, in milliseconds: longer than that one waits, and short
 * enough for the second look to find a dead one within the time that the ledger may lag.
 */
const standbyMs = 1.5 * delayMs;

interface Entered {
  readonly isMore: boolean;
  /** Number of the delivery that was looked at last. */
  readonly entered: number;
  /** Behind its last number may be leads that are stored: they can be entered once a transaction in front of them has ended. */
  readonly horizon: Horizon;
}

/**
 * Enters the leads that come next, in one transaction. Receivers of one database wait for each other by the head's lock.
 * The horizon is read in that transaction, since another session may be one with another server.
 */
function enterNext(database: OpenedSchema): Promise<Entered> {
  const { schema } = database;
  const questions = sql`${headOf(schema)} FOR UPDATE; ${byIndex} ${horizonQuestions(database)}`;
  return inTransaction(database, questions, async (connection, [rows = [], , ...answers]) => {
    const [head, horizon] = [headIn(rows), horizonIn(answers)];
    const prunedAfter = rows[0]?.['pruned_after'];
    const found = isNull(prunedAfter)
      ? await nextLeads(connection, schema, head.seq, horizon.last)
      : await nextPruned(connection, schema, head.seq, bytesOf(prunedAfter));
    const { size, parts, seqs, leaves, salts } = grown(head, found.leads);
    const added = sql`INSERT INTO ${schema}.leaves (position, seq, leaf, salt)
      SELECT ${head.size} + place, seq, ${cut(leaves, leafBytes)}, ${cut(salts, saltBytes)} FROM (
        SELECT seq, (place - 1)::int4 AS place FROM unnest(${own(`{${seqs.join()}}`)}::int8[]) WITH ORDINALITY AS new (seq, place)) AS new;`;
    const change = sql`${added} UPDATE ${schema}.ledger SET size = ${size}, parts = ${parts}, seq = ${found.seq},
      pruned_after = ${found.prunedAfter ?? sql`NULL`} WHERE size = ${head.size};`;
    if (found.seq === head.seq && isNull(prunedAfter)) await connection.run(sql`ROLLBACK;`);
    else await runToCommit(connection, database.guard, change);
    return { isMore: found.isMore, entered: found.seq, horizon };
  });
}

interface NextLeads {
  readonly leads: readonly UnsealedLead[];
  /** Of the delivery that was looked at last. */
  readonly seq: number;
  /** The id that was looked at last; undefined where all that were pruned have been. */
  readonly prunedAfter: Uint8Array | undefined;
  readonly isMore: boolean;
}

/** For tables that grow faster than they are analysed: what is read is few rows of many. */
const byIndex: Sql = sql`SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
  set_config('enable_sort', 'off', true);`;

/** The part of `bytes` that belongs to the lead at `place`: to hand over a value costs more than to cut it out of a longer one. */
const cut = (bytes: Uint8Array, length: number): Sql =>
  sql`substr(${bytes}::bytea, place * ${integerLiteral(length)} + 1, ${integerLiteral(length)})`;

/** By the numbers of their first deliveries, up to `last`. */
async function nextLeads(
  connection: Connection,
  schema: Sql,
  after: number,
  last: number,
): Promise<NextLeads> {
  const [[row = {}] = []] = await connection.run(
    sql`SELECT max(d.seq) AS last, count(*) AS looked_at, ${leadTexts(sql`source`)} FILTER (WHERE id IS NOT NULL) AS leads FROM (
        SELECT seq, lead, source, attempt, reason FROM ${schema}.deliveries WHERE seq > ${after} AND seq <= ${last}
        ORDER BY seq LIMIT ${leavesAtOnce}) AS d
      LEFT JOIN ${schema}.ids AS i ON attempt = 1 AND reason IS NULL AND i.id = d.lead AND i.seq = d.seq`,
  );
  const seq = numberOf(row['last'] ?? after);
  const isMore = numberOf(row['looked_at']) === leavesAtOnce;
  return { leads: leadsIn(row), seq, prunedAfter: undefined, isMore };
}

/** By their ids, those whose deliveries were pruned before there was a ledger. */
async function nextPruned(
  connection: Connection,
  schema: Sql,
  seq: number,
  after: Uint8Array,
): Promise<NextLeads> {
  const [[row = {}] = []] = await connection.run(
    sql`SELECT (array_agg(encode(id, 'hex') ORDER BY id DESC))[1] AS last, ${leadTexts(sql`CASE WHEN pushed THEN 'push' ELSE 'backfill' END`)} FILTER (
        WHERE NOT EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.seq = i.seq AND d.received_at = i.first_at)
          AND NOT EXISTS (SELECT FROM ${schema}.leaves AS l WHERE l.seq = i.seq)) AS leads
      FROM (SELECT id, seq, first_at, digest, pushed FROM ${schema}.ids WHERE id > ${after}
        ORDER BY id LIMIT ${prunedAtOnce}) AS i`,
  );
  const prunedAfter = isNull(row['last']) ? undefined : bytesOf(row['last']);
  return { leads: leadsIn(row), seq, prunedAfter, isMore: true };
}

/** Of rows of `ids`, as `leadsIn` takes them apart: a row of its own for each takes longer to read. */
const leadTexts = (source: Sql): Sql =>
  sql`string_agg(concat_ws(':', i.seq, encode(id, 'hex'), first_at, encode(digest, 'hex'), ${source}), ',')`;

const leadsIn = ({ leads }: Row): readonly UnsealedLead[] =>
  isNull(leads)
    ? []
    : textOf(leads)
        .split(',')
        .map((text) => {
          const [seq, id, receivedAt, digest, source] = text.split(':');
          return {
            seq: numberOf(seq),
            leadId: storedText(id),
            receivedAt: numberOf(receivedAt),
            digest: bytesOf(digest),
            source: source as Source,
          };
        })
        .sort((a, b) => a.seq - b.seq);

const headOf = (schema: Sql): Sql =>
  sql`SELECT origin, size, encode(parts, 'hex') AS parts, seq, encode(pruned_after, 'hex') AS pruned_after, supersedes
    FROM ${schema}.ledger`;

function headIn([row]: readonly Row[]): LedgerHead {
  if (row === undefined) throw new Error('the inbox has lost the head of its ledger');
  return {
    origin: textOf(row['origin']),
    size: numberOf(row['size']),
    parts: bytesOf(row['parts']),
    seq: numberOf(row['seq']),
    supersedes: isNull(row['supersedes']) ? undefined : textOf(row['supersedes']),
  };
}
