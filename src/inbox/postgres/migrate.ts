import { ConfigError } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { Connection, Connections } from './connection/database-connections.ts';
import { DatabaseUnavailableError } from './connection/database-errors.ts';
import type { InboxProblem } from '../problems.ts';
import type { StoreOptions } from '../store-options.ts';
import { faultOf, isConflict, isForbidden, isLocked, isMadeByAnother, isMissing } from './postgres-errors.ts';
import { type Migration, migrations } from './migrations.ts';
import {
  integerLiteral,
  bytesOfName,
  identifier,
  numberOf,
  own,
  qualifiedName,
  Sql,
  sql,
  statements,
  textOf,
} from './sql.ts';

/** Of a schema: how many migrations it has had, and the oldest version whose programs may write it. */
interface SchemaVersion {
  readonly version: number;
  readonly writableFrom: number;
}

export const currentVersion = migrations.length;

/** What `migrate` did. */
export interface Migrated {
  /** Version of the schema before; 0 when there was none. */
  readonly from: number;
  readonly to: number;
  /** Months that got partitions, such as `2026_01`. */
  readonly months: readonly string[];
  /** Partitions that still lack an index, since somebody held a lock on them: a later run makes it. */
  readonly lacking: readonly string[];
}

interface MigrateOptions {
  readonly schema: Sql;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Default: those of this program. */
  readonly steps?: readonly Migration[];
}

/** Undefined when there is no inbox in the schema. */
export async function schemaVersion(connection: Connection, schema: Sql): Promise<SchemaVersion | undefined> {
  try {
    const [rows = []] = await connection.run(sql`SELECT version, writable_from FROM ${schema}.meta`);
    const [row] = rows;
    return row && { version: numberOf(row['version']), writableFrom: numberOf(row['writable_from']) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Creates the schema or brings it up to date, a transaction for each step, and makes the partitions of the next three
 * months. Several programs may do it at once: one of them does each step. Throws what the database throws, such as that
 * the role may not.
 */
export async function migrate(connection: Connection, options: MigrateOptions): Promise<Migrated> {
  const { schema, now, steps = migrations } = options;
  const from = (await schemaVersion(connection, schema))?.version ?? 0;
  for (let next = from; next < steps.length;) {
    await inTransaction(connection, schema, async () => {
      // Another program may have done it while this one waited for the lock.
      next = await lockedVersion(connection, schema);
      if (next === 0 && !(await schemaExists(connection, schema)))
        await connection.run(sql`CREATE SCHEMA ${schema}`);
      const step = steps[next];
      if (step !== undefined) {
        // Also where another program that starts now has done the steps before: both would make the same index otherwise.
        const isNew = next === 0 || !(await hasDeliveries(connection, schema));
        await connection.run(stepStatements(schema, step, { index: next, isNew }), slowMs);
      }
      next += 1;
    });
  }
  const lacking = new Set<string>();
  for (const { index } of steps) {
    if (index === undefined) continue;
    for (const partition of await addIndexes(connection, schema, index)) lacking.add(partition);
  }
  const months = await addMonths(connection, schema, now);
  return { from, to: Math.max(from, steps.length), months, lacking: [...lacking] };
}

/** The partitions of the next three months, where they are missing. Returns the names of the months that got some. */
async function addMonths(connection: Connection, schema: Sql, now: number): Promise<readonly string[]> {
  if ((await missingMonths(connection, schema, now)).length === 0) return [];
  let months: readonly Month[] = [];
  await inTransaction(connection, schema, async () => {
    months = await missingMonths(connection, schema, now);
    for (const month of months) await connection.run(partitionsOf(schema, month), slowMs);
  });
  return months.map(({ name }) => name);
}

/** The statements that `migrate` would run now. Changes nothing. */
export async function plannedMigration(connection: Connection, options: MigrateOptions): Promise<string> {
  const { schema, now, steps = migrations } = options;
  const found = await schemaVersion(connection, schema);
  const from = found?.version ?? 0;
  const isNew = from === 0 && !(await schemaExists(connection, schema));
  const months = found === undefined ? monthsFrom(now) : await missingMonths(connection, schema, now);
  const parts = [
    ...(isNew ? [sql`CREATE SCHEMA ${schema};`] : []),
    ...steps
      .slice(from)
      .map((step, i) => stepStatements(schema, step, { index: from + i, isNew: from === 0 })),
    ...months.map((month) => partitionsOf(schema, month)),
  ];
  const added = from === 0 ? [] : steps.flatMap(({ index }) => index ?? []);
  const lacking = await Promise.all(added.map((index) => missingIndexes(connection, schema, index)));
  const concurrent = lacking.flat().flatMap((one) => one.statements);
  if (parts.length + concurrent.length === 0) return '';
  // What is made without a lock is made outside of a transaction.
  return `${statements(sql`BEGIN;`, ...parts, sql`COMMIT;`, ...concurrent.map((one) => sql`${one};`)).text}\n`;
}

/** How long a step may take, in milliseconds: rows may have to be moved. */
const slowMs = 600_000;

/** Throws a `ConfigError` when this program may not use a schema of that version. */
export function requireUsable(found: SchemaVersion, location: string): void {
  if (found.writableFrom > currentVersion) {
    throw new ConfigError({ kind: 'inbox-of-newer-version', inbox: location } satisfies InboxProblem);
  }
}

/** How often a transaction is tried while receivers hold locks; between two tries they go on. */
const maxTries = 20;

async function inTransaction(connection: Connection, schema: Sql, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await tryTransaction(connection, schema, work);
      return;
    } catch (error) {
      if (tries === maxTries || (!isLocked(error) && !isConflict(error))) throw error;
      await connection.run(sql`SELECT pg_sleep(0.1 + random() * 0.3)`);
    }
  }
}

async function tryTransaction(connection: Connection, schema: Sql, work: () => Promise<void>): Promise<void> {
  await connection.run(
    sql`BEGIN; SELECT set_config('lock_timeout', '1s', true), set_config('statement_timeout', '0', true);`,
  );
  try {
    // Waits longer than for a table: the migration of another program may take its time.
    await connection.run(
      sql`SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(${lockClass}::int4, hashtext(convert_from(${bytesOfName(schema)}, 'UTF8')));
      SET LOCAL lock_timeout = '1s';`,
      slowMs,
    );
    await work();
    await connection.run(sql`COMMIT`);
  } catch (error) {
    await connection.run(sql`ROLLBACK`).catch(() => undefined);
    throw error;
  }
}

/** Of our advisory locks ("lead"), so that another program's are no others'. */
const lockClass = 0x6c656164;

async function lockedVersion(connection: Connection, schema: Sql): Promise<number> {
  const [rows = []] = await connection.run(sql`SELECT to_regclass(${qualifiedName(schema, 'meta')}) AS meta`);
  if (rows[0]?.['meta'] === null) return 0;
  return (await schemaVersion(connection, schema))?.version ?? 0;
}

async function schemaExists(connection: Connection, schema: Sql): Promise<boolean> {
  const [rows = []] = await connection.run(
    sql`SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8')`,
  );
  return rows.length > 0;
}

async function hasDeliveries(connection: Connection, schema: Sql): Promise<boolean> {
  const [rows = []] = await connection.run(sql`SELECT FROM ${schema}.deliveries LIMIT 1`);
  return rows.length > 0;
}

/** A partition of `deliveries` that lacks an index. */
interface MissingIndex {
  readonly partition: string;
  readonly statements: readonly Sql[];
}

/**
 * What an index of `deliveries` lacks: made partition by partition, while others go on writing. One that was broken off is
 * made anew; one that another program makes now is left to it.
 */
async function missingIndexes(
  connection: Connection,
  schema: Sql,
  { name, columns }: NonNullable<Migration['index']>,
): Promise<readonly MissingIndex[]> {
  const [rows = []] = await connection.run(sql`SELECT relname, indisvalid FROM pg_catalog.pg_inherits AS part
    JOIN pg_catalog.pg_class AS c ON c.oid = inhrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace
    LEFT JOIN pg_catalog.pg_index AS made ON made.indexrelid = to_regclass(format('%I.%I', nspname, relname || ${own(`_${name}`)}::text))
    WHERE inhparent = ${qualifiedName(schema, 'deliveries')}::regclass
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS own JOIN pg_catalog.pg_index AS i ON i.indexrelid = own.inhrelid
      WHERE own.inhparent = to_regclass(${qualifiedName(schema, name)}) AND i.indrelid = part.inhrelid)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index WHERE relid = part.inhrelid) ORDER BY relname`);
  return rows.map(({ relname, indisvalid: isValid }) => {
    const partition = textOf(relname);
    const table = identifier(partition);
    const index = identifier(`${partition}_${name}`);
    const dropped = sql`DROP INDEX IF EXISTS ${schema}.${index}`;
    const created = sql`CREATE INDEX CONCURRENTLY ${index} ON ${schema}.${table} (${new Sql([columns])})`;
    const attached = sql`ALTER INDEX ${schema}.${identifier(name)} ATTACH PARTITION ${schema}.${index}`;
    const made = isValid === true ? [] : [...(isValid === false ? [dropped] : []), created];
    return { partition, statements: [...made, attached] };
  });
}

/**
 * Others may do the same: each looks again before each partition, and passes over what another one has locked or made. Returns
 * the partitions that still lack the index, and get it by nobody now.
 */
async function addIndexes(
  connection: Connection,
  schema: Sql,
  index: NonNullable<Migration['index']>,
): Promise<readonly string[]> {
  const tried = new Set<string>();
  for (;;) {
    const missing = await missingIndexes(connection, schema, index);
    const next = missing.find(({ partition }) => !tried.has(partition));
    if (next === undefined) return missing.map(({ partition }) => partition);
    tried.add(next.partition);
    try {
      for (const statement of next.statements) {
        // Where it waits for a lock, everybody who writes would wait behind it.
        const isShort = !statement.text.startsWith('CREATE');
        const limited = sql`BEGIN; SET LOCAL lock_timeout = '1s'; ${statement}; COMMIT;`;
        await connection.run(isShort ? limited : statement, slowMs);
      }
    } catch (error) {
      await connection.run(sql`ROLLBACK`);
      if (!isLocked(error) && !isConflict(error) && !isMadeByAnother(error)) throw error;
    }
  }
}

const stepStatements = (
  schema: Sql,
  { statements: of, writableFrom }: Migration,
  { index, isNew }: { readonly index: number; readonly isNew: boolean },
): Sql =>
  sql`${of(schema, isNew)}
UPDATE ${schema}.meta SET version = ${integerLiteral(index + 1)}, writable_from = greatest(writable_from, ${integerLiteral(writableFrom)});`;

/** Beside the current one. */
const monthsAhead = 3;

/** In the order in which a receiver writes them, so that a lock on one is never waited for with a lock on the other. */
const tables = ['contents', 'deliveries'] as const;

/** A month, UTC, whose deliveries are in partitions of their own. */
export interface Month {
  /** `2026_01`. */
  readonly name: string;
  /** Milliseconds since the epoch, half-open. */
  readonly start: number;
  readonly end: number;
}

export function monthOf(time: number, later = 0): Month {
  const date = new Date(time);
  const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
  const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later + 1);
  return { name: new Date(start).toISOString().slice(0, 7).replace('-', '_'), start, end };
}

/** The months that have partitions, oldest first. */
export async function existingMonths(connection: Connection, schema: Sql): Promise<readonly Month[]> {
  const [rows = []] = await connection.run(sql`SELECT relname FROM pg_catalog.pg_inherits
    JOIN pg_catalog.pg_class ON oid = inhrelid
    WHERE inhparent = ${qualifiedName(schema, 'deliveries')}::regclass ORDER BY relname`);
  return rows.flatMap(({ relname }) => {
    const [, year, month] = /^deliveries_(\d{4})_(\d\d)$/.exec(textOf(relname)) ?? [];
    return year === undefined ? [] : [monthOf(Date.UTC(Number(year), Number(month) - 1))];
  });
}

/** Those of the current month and the next three that have no partitions. `now` in milliseconds since the epoch. */
export async function missingMonths(
  connection: Connection,
  schema: Sql,
  now: number,
): Promise<readonly Month[]> {
  const existing = new Set((await existingMonths(connection, schema)).map(({ name }) => name));
  return monthsFrom(now).filter(({ name }) => !existing.has(name));
}

const monthsFrom = (now: number): readonly Month[] =>
  Array.from({ length: monthsAhead + 1 }, (_, i) => monthOf(now, i));

/**
 * Makes the partitions of a month, inside a transaction. What came into the default partition meanwhile is moved. A
 * partition is attached, since to create it in place would lock the whole table.
 */
const partitionsOf = (schema: Sql, month: Month): Sql =>
  statements(...tables.map((table) => partitionOf(schema, table, month)));

export const partitionName = (table: (typeof tables)[number], { name }: Pick<Month, 'name'>): Sql =>
  identifier(`${table}_${name}`);

function partitionOf(schema: Sql, table: (typeof tables)[number], month: Month): Sql {
  const whole = sql`${schema}.${identifier(table)}`;
  const rest = sql`${schema}.${identifier(`${table}_default`)}`;
  const part = sql`${schema}.${partitionName(table, month)}`;
  const isInside = sql`received_at >= ${integerLiteral(month.start)} AND received_at < ${integerLiteral(month.end)}`;
  return sql`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE;
CREATE TABLE ${part} (LIKE ${whole} INCLUDING ALL);
WITH moved AS (DELETE FROM ${rest} WHERE ${isInside} RETURNING *) INSERT INTO ${part} SELECT * FROM moved;
ALTER TABLE ${whole} ATTACH PARTITION ${part} FOR VALUES FROM (${integerLiteral(month.start)}) TO (${integerLiteral(month.end)});`;
}

/** How long after an attempt that failed another one is made, in milliseconds. */
const againMs = 3_600_000;

interface MonthsAheadOptions {
  readonly schema: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly warn: StoreOptions['warn'];
}

/**
 * Keeps partitions for the next months, where the role may make them. A month without partitions refuses no lead, since
 * there is a default one; but it cannot be dropped as a whole.
 */
export class MonthsAhead {
  readonly #options: MonthsAheadOptions;
  #month = '';
  #nextAt = 0;
  #isSaid = false;

  constructor(options: MonthsAheadOptions) {
    this.#options = options;
  }

  /** Makes what is missing. */
  async add(connection: Connection): Promise<void> {
    const { schema, clock, warn } = this.#options;
    const now = clock.now();
    this.#nextAt = now + againMs;
    try {
      await addMonths(connection, schema, now);
      this.#month = monthOf(now).name;
    } catch (error) {
      if (!isForbidden(error) && !isLocked(error)) throw error;
      if (isForbidden(error)) this.#month = monthOf(now).name;
      if (this.#isSaid) return;
      this.#isSaid = true;
      warn({ kind: 'inbox-months-missing' });
    }
  }

  /** The same when a new month has come since, in the background: no delivery waits for it. */
  check(connections: Connections): void {
    const now = this.#options.clock.now();
    if (now < this.#nextAt || monthOf(now).name === this.#month) return;
    this.#nextAt = now + againMs;
    connections
      .use((connection) => this.add(connection))
      .catch((error: unknown) => {
        // The deliveries of now find that out as well.
        if (error instanceof DatabaseUnavailableError) return;
        this.#options.warn({ kind: 'inbox-months-failed', fault: faultOf(error) });
      });
  }
}
