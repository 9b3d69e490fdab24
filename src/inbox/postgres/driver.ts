import { randomBytes } from 'node:crypto';
import { ConfigError, messageOf } from '../../errors.ts';
import type { Driver, WriteFailure } from '../driver.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { numberOf, type Rows, textOf } from '../sql/row.ts';
import {
  type Insertion,
  Query,
  raw,
  type Statement,
  type Start,
  metaColumns,
  startOf,
  type Work,
} from '../sql/statement.ts';
import { roomBytes, type StoreOptions } from '../store-options.ts';
import {
  cannotOpen,
  cannotRead,
  cannotWrite,
  DatabaseError,
  isServerAnswer,
  isConflict,
  isDiskFull,
  isForbidden,
  mayBeCausedByData,
  isSessionLost,
  LostAnswerError,
  namesRights,
} from './database-errors.ts';
import type { DatabaseLocation } from './database-location.ts';
import { checkServer } from './check-server.ts';
import { createSchema, databaseTime, inSchema, isInbox } from './database-schema.ts';
import { ColumnQuery, type Session } from './session.ts';
import { SessionPool } from './session-pool.ts';

interface OpenOptions {
  /** Default false: the schema is made where it is missing and the role may. */
  readonly isReader?: boolean;
  readonly warn: StoreOptions['warn'];
}

/** Throws a `ConfigError` when no lead would be safe in the database, and a `DatabaseUnavailableError` when it cannot be reached. */
export async function openPostgresDriver(
  location: DatabaseLocation,
  { isReader = false, warn }: OpenOptions,
): Promise<PostgresDriver> {
  const pool = new SessionPool(location);
  try {
    await pool.use(async (session) => {
      if (!isReader) await checkServer(session, location, warn);
      if (await isInbox(session, location)) return;
      if (isReader) throw new ConfigError(`there is no inbox in ${location.shown}`, { hint: migrateHint });
      await createSchema(session, location).catch((cause: unknown) => {
        const message = `there is no inbox in ${location.shown}, and this role may not make it`;
        throw isForbidden(cause) ? new ConfigError(message, { hint: migrateHint, cause }) : cause;
      });
    });
    return new PostgresDriver(pool, location, warn);
  } catch (error) {
    await pool.close();
    throw cannotOpen(location.shown, error);
  }
}

const migrateHint = "'leads inbox migrate' with a role that may create tables makes it";

/**
 * In milliseconds: how long a statement may take, and wait for a lock, which is less than the session waits for an answer; and after
 * how long without the next statement the database ends the session of a receiver that hangs, since others wait for its lock.
 */
const statementMs = 4500;
const lockMs = 4000;
const abandonedMs = 3000;

/**
 * The statements with which each transaction begins. The settings hold for this transaction, whatever the role, the database or a pooler
 * has set. An acknowledged lead must survive a power cut: `synchronous_commit` is `on`, or `remote_apply`, which is stronger. An
 * error writes no values into the server's log. FOR UPDATE waits until no other transaction writes. Only then the time is
 * read, so that the times of transactions are in their order.
 */
const beginning: readonly Query[] = [
  'BEGIN ISOLATION LEVEL READ COMMITTED',
  `SELECT set_config('statement_timeout', '${statementMs}', true), set_config('lock_timeout', '${lockMs}', true),
    set_config('idle_in_transaction_session_timeout', '${abandonedMs}', true), set_config('jit', 'off', true),
    set_config('log_parameter_max_length_on_error', '0', true),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
      ELSE 'on' END, true)`,
  `SELECT ${metaColumns} FROM @meta FOR UPDATE`,
  `SELECT ${databaseTime} AS now`,
].map((text) => new Query(text));

const maxConflicts = 5;

/** How long the server may send nothing while a statement reads, and while VACUUM removes the versions of deleted rows; in milliseconds. */
const readMs = 60_000;
const vacuumMs = 600_000;

const erasedTables = ['deliveries', 'contents', 'results', 'forwards', 'leads'];

const forbiddenTableQuery = (schema: string): Query =>
  new Query(
    `SELECT relname::text AS name FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE nspname = $1 AND relname IN ('deliveries', 'contents', 'leads', 'forwards', 'nonces')
      AND NOT (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'SELECT')) LIMIT 1`,
    [schema],
  );

const changeQuery = new Query(
  'SELECT pg_current_snapshot()::text AS mark, (SELECT max(seq) FROM @deliveries)',
);

/** The most rows that one statement inserts. Each inserts a power of two, so that few different statements are prepared. */
const maxRowsInserted = 64;

/** An inbox in a PostgreSQL database. Each transaction locks the row of `meta`, so that only one writes at a time. */
class PostgresDriver implements Driver {
  readonly location: string;
  readonly dialect = postgresDialect;
  readonly outOfReach = [
    'archives of its write-ahead log, replicas, their logs and backups of the database',
    'rows that a transaction which was open meanwhile still sees, until a later VACUUM',
    "free space in the database's own files, until it is used again or VACUUM FULL rewrites them",
  ];
  readonly #schema: string;
  readonly #pool: SessionPool;
  readonly #warn: StoreOptions['warn'];
  /** The texts in PostgreSQL's form, by the shared texts of which they were made. */
  readonly #texts = new Map<string, string>();
  /** A disk was full, and `checkWritable` has found no room since. */
  #isFull = false;
  #hasWarnedOfRights = false;

  constructor(pool: SessionPool, location: DatabaseLocation, warn: StoreOptions['warn']) {
    this.location = location.shown;
    this.#schema = location.url.schema;
    this.#pool = pool;
    this.#warn = warn;
  }

  now(): Query {
    return raw(databaseTime);
  }

  /** Runs the work again where nothing of it was committed: after conflicts, and once on another session where this one was lost. */
  async write<T>(work: (start: Start) => Work<T>): Promise<T> {
    let hasLostSession = false;
    for (let conflicts = 0; ;) {
      try {
        return await this.#pool.use((session) => this.#transact(session, work));
      } catch (error) {
        if (isDiskFull(error)) this.#isFull = true;
        if (isConflict(error) && conflicts < maxConflicts) conflicts += 1;
        else if (isSessionLost(error) && !hasLostSession) hasLostSession = true;
        else throw error;
      }
    }
  }

  writeFailure(error: unknown): WriteFailure {
    if (isForbidden(error) && !this.#hasWarnedOfRights) {
      this.#hasWarnedOfRights = true;
      this.#warn({
        kind: 'postgres-forbids-storing',
        message: `the database of ${this.location} does not let this role store deliveries (${messageOf(error)}): they are answered 503`,
        hint: namesRights,
      });
    }
    return {
      error: cannotWrite(this.location, error),
      cause: mayBeCausedByData(error) ? 'data' : 'database',
      mayBeStored: error instanceof LostAnswerError,
    };
  }

  async read(query: Query): Promise<Rows> {
    try {
      return await this.#ask(query);
    } catch (error) {
      throw cannotRead(this.location, error);
    }
  }

  openError(error: unknown): Error {
    return cannotOpen(this.location, error);
  }

  async changeMark(): Promise<string> {
    const [row] = await this.read(changeQuery);
    return textOf(row?.['mark']);
  }

  /**
   * A transaction that stores nothing needs few rights and little room. So this looks at the rights that storing a delivery needs, and,
   * once a disk was full, writes as much as the largest delivery has.
   */
  async checkWritable(): Promise<void> {
    const [row] = await this.#ask(forbiddenTableQuery(this.#schema));
    if (row !== undefined)
      throw new DatabaseError(`permission denied for table ${textOf(row['name'])}`, '42501');
    if (!this.#isFull) return;
    const fill = new Query('UPDATE @write_checks SET filler = ?', [randomBytes(roomBytes)]);
    const clear = new Query('UPDATE @write_checks SET filler = NULL');
    await this.write(function* () {
      yield [fill, clear];
    });
    this.#isFull = false;
  }

  beginErasure(): void {}

  async overwrite(): ReturnType<Driver['overwrite']> {
    const notVacuumed = await this.#pool.use((session) => this.#vacuum(session));
    const outOfReach = notVacuumed === undefined ? this.outOfReach : [notVacuumed, ...this.outOfReach];
    return { remains: undefined, outOfReach };
  }

  /** The database frees room by itself (autovacuum), while others write. */
  compact(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #ask(query: Query): Promise<Rows> {
    const [rows = []] = await this.#pool.use((session) => session.run(this.#queriesOf([query]), readMs));
    return rows;
  }

  async #transact<T>(session: Session, work: (start: Start) => Work<T>): Promise<T> {
    let isEnding = false;
    try {
      const [, , [meta] = [], [time] = []] = await session.run(this.#queriesOf(beginning));
      const steps = work(startOf(meta, numberOf(time?.['now'])));
      // Statements that give no rows are sent with those of the next step, or with COMMIT: that saves a round trip for each step.
      let unsent: readonly Query[] = [];
      let step = steps.next();
      while (step.done !== true) {
        const queriesOfEach = step.value.map((statement) => this.#queriesOf([statement]));
        const queries = [...unsent, ...queriesOfEach.flat()];
        if (step.value.every(givesNoRows)) {
          unsent = queries;
          step = steps.next(step.value.map(() => []));
        } else {
          const rows = await session.run(queries);
          step = steps.next(lastOfEach(queriesOfEach, rows.slice(unsent.length)));
          unsent = [];
        }
      }
      isEnding = true;
      await commit(session, unsent);
      return step.value;
    } catch (error) {
      // A COMMIT after a failed statement rolls back, and so does the end of the session.
      if (!isEnding) await session.run([new Query('ROLLBACK')]).catch(() => session.drop());
      throw error;
    }
  }

  #queriesOf(statements: readonly Statement[]): readonly Query[] {
    return statements.flatMap((statement) => {
      if (!(statement instanceof Query)) return this.#insertionsOf(statement);
      return new Query(this.#textOf(statement.text), statement.values);
    });
  }

  #insertionsOf({ into, rows }: Insertion): readonly Query[] {
    const queries: Query[] = [];
    for (let first = 0; first < rows.length;) {
      const count = Math.min(maxRowsInserted, 2 ** Math.floor(Math.log2(rows.length - first)));
      const part = rows.slice(first, first + count);
      const row = `(${Array(part[0]?.length).fill('?').join(',')})`;
      const text = this.#textOf(`INSERT INTO @${into} VALUES ${Array(count).fill(row).join(',')}`);
      queries.push(new ColumnQuery(text, part.flat()));
      first += count;
    }
    return queries;
  }

  #textOf(shared: string): string {
    const text = this.#texts.get(shared) ?? inSchema(shared, this.#schema);
    this.#texts.set(shared, text);
    return text;
  }

  /** Removes the versions of deleted rows, which PostgreSQL calls dead. Resolves to why it did not; undefined when it did. */
  async #vacuum(session: Session): Promise<string | undefined> {
    const unowned = new Query(
      `SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE nspname = $1 AND relname = ANY(string_to_array($2, ',')) AND NOT pg_catalog.pg_has_role(relowner, 'USAGE')`,
      [this.#schema, erasedTables.join(',')],
    );
    const [unownedTables = []] = await session.run([unowned]);
    if (unownedTables.length > 0) {
      return 'its dead rows go with VACUUM, which only the owner of the tables may run';
    }
    try {
      for (const table of erasedTables) {
        await session.run(this.#queriesOf([new Query(`VACUUM @${table}`)]), vacuumMs);
      }
      return undefined;
    } catch (error) {
      if (!isServerAnswer(error)) throw error;
      return 'VACUUM failed: its dead rows go when the database runs it by itself';
    }
  }
}

/** Only what the server itself answers shows that nothing was committed: after any other failure the work must not run again. */
async function commit(session: Session, statements: readonly Query[]): Promise<void> {
  try {
    await session.run([...statements, new Query('COMMIT')]);
  } catch (error) {
    if (isServerAnswer(error)) throw error;
    throw new LostAnswerError('whether it was committed is not known', { cause: error });
  }
}

const givesNoRows = (statement: Statement): boolean =>
  !(statement instanceof Query) ||
  (/^\s*(INSERT|UPDATE|DELETE)\b/.test(statement.text) && !/\bRETURNING\b/.test(statement.text));

/** The rows for each statement: those of the last of the queries that it became. */
function lastOfEach(queries: readonly (readonly Query[])[], rows: readonly Rows[]): readonly Rows[] {
  let end = 0;
  return queries.map(({ length }) => {
    end += length;
    return length === 0 ? [] : (rows[end - 1] ?? []);
  });
}

export type { PostgresDriver };
