import type { Connection } from '../connection/database-connections.ts';
import { textOf } from '../sql/result-row.ts';
import { bare, identifier, qualifiedName, type Sql, sql, statements } from '../sql/sql.ts';

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

function monthOf(time: number, later = 0): Month {
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

export const monthsFrom = (now: number): readonly Month[] =>
  Array.from({ length: monthsAhead + 1 }, (_, i) => monthOf(now, i));

/**
 * Makes the partitions of a month, inside a transaction. What came into the default partition meanwhile is moved. A
 * partition is attached, since to create it in place would lock the whole table.
 */
export const partitionsOf = (schema: Sql, month: Month): Sql =>
  statements(...tables.map((table) => partitionOf(schema, table, month)));

export const partitionName = (table: (typeof tables)[number], { name }: Pick<Month, 'name'>): Sql =>
  identifier(`${table}_${name}`);

function partitionOf(schema: Sql, table: (typeof tables)[number], month: Month): Sql {
  const whole = sql`${schema}.${identifier(table)}`;
  const rest = sql`${schema}.${identifier(`${table}_default`)}`;
  const part = sql`${schema}.${partitionName(table, month)}`;
  const isInside = sql`received_at >= ${month.start} AND received_at < ${month.end}`;
  return sql`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE;
CREATE TABLE ${part} (LIKE ${whole} INCLUDING ALL);
WITH moved AS (DELETE FROM ${rest} WHERE ${isInside} RETURNING *) INSERT INTO ${part} SELECT * FROM moved;
ALTER TABLE ${whole} ATTACH PARTITION ${part} FOR VALUES FROM (${bare(month.start)}) TO (${bare(month.end)});`;
}
