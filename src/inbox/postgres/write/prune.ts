import type { Connection } from '../connection/database-connections.ts';
import { countRemoved } from '../migrations.ts';
import { existingMonths, type Month, partitionName } from '../migrate.ts';
import { isConflict, isForbidden, isLocked } from '../postgres-errors.ts';
import type { OpenedSchema } from '../read/read-database.ts';
import { integerLiteral, numberOf, type Sql, sql, textOf } from '../sql.ts';
import { rejectsLock } from '../store-context.ts';
import { hasDelivery } from './lease-plan.ts';
import { inTransaction, orRollBack, runToCommit } from './transaction.ts';

/** Deliveries that one transaction drops, so that a receiver never waits long. */
const batchRows = 500;

/** How often a month is tried that somebody reads or writes at the moment. */
const maxTries = 5;

interface DroppedBatch {
  /** The last delivery that was looked at; undefined: there was none. */
  readonly last: number | undefined;
  readonly dropped: number;
}

/**
 * Drops deliveries received before that time (ms since the epoch), but keeps the ids, and every lead that a target has not had, unless it is
 * dead: whole months as partitions, the rest in batches, and so a month that cannot be locked or whose partitions the role may not drop.
 * Resolves to the number of dropped deliveries.
 */
export async function pruneDeliveries(opened: OpenedSchema, before: number): Promise<number> {
  const { connections, schema } = opened;
  const months = await connections.use((connection) => existingMonths(connection, schema));
  let dropped = 0;
  for (const month of months) {
    if (month.end <= before) dropped += await dropOrSkip(opened, month);
  }
  for (let after: number | undefined = 0; after !== undefined;) {
    const batch: DroppedBatch = await dropBatch(opened, { before, after });
    dropped += batch.dropped;
    after = batch.last;
  }
  await connections.use((connection) => connection.run(dropContents(opened, before), 60_000));
  while (await forgetDead(opened)) {
    // Others may lock these leads between two batches.
  }
  return dropped;
}

/** 0 when the month stays. */
async function dropOrSkip({ connections, schema }: OpenedSchema, month: Month): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await connections.use((connection) =>
        orRollBack(connection, () => dropMonth(connection, schema, month)),
      );
    } catch (error) {
      const isBusy = isLocked(error) || isConflict(error);
      if (isForbidden(error) || (isBusy && tries === maxTries)) return 0;
      if (!isBusy) throw error;
    }
  }
}

/**
 * Locks the ids of its leads, sorted, as every receiver does, so that none of them becomes outstanding meanwhile. What is
 * dropped are the deliveries whose leads were locked: while that was waited for, another process may have dropped some.
 */
function dropBatch(
  opened: OpenedSchema,
  { before, after }: { readonly before: number; readonly after: number },
): Promise<DroppedBatch> {
  const { schema, lockKey } = opened;
  const lock = sql`WITH batch AS MATERIALIZED (
  SELECT seq, lead FROM ${schema}.deliveries WHERE seq > ${after} AND received_at < ${Math.ceil(before)}
  ORDER BY seq LIMIT ${batchRows}
), locked AS MATERIALIZED (
  SELECT id FROM ${schema}.ids WHERE id IN (SELECT lead FROM batch WHERE lead IS NOT NULL) ORDER BY ids.id FOR UPDATE
) SELECT string_agg(seq::text, ',') AS seqs, (SELECT count(*) FROM locked) AS leads FROM batch;`;
  return inTransaction(opened.connections, lock, async (connection, locked) => {
    const joined = textOf(locked.at(-1)?.[0]?.['seqs']);
    const seqs = joined === '' ? [] : joined.split(',').map(Number);
    const dropped = await connection.run(
      sql`SELECT pg_advisory_xact_lock(${lockKey}::int4, ${rejectsLock}::int4);
WITH gone AS (
  DELETE FROM ${schema}.deliveries AS d WHERE d.seq = ANY(${seqs}::int8[]) AND d.received_at < ${Math.ceil(before)}
    AND NOT EXISTS (SELECT FROM ${schema}.outstanding AS o WHERE o.lead = d.lead AND NOT o.dead) RETURNING 1
) SELECT count(*) AS dropped FROM gone;`,
    );
    await runToCommit(connection);
    const last = seqs.length === 0 ? undefined : Math.max(...seqs);
    return { last, dropped: numberOf(dropped.at(-1)?.[0]?.['dropped']) };
  });
}

/**
 * Forgets what is dead and has no delivery any more: of what a newer one is kept, that one can still be handed on. Returns
 * whether there may be more.
 */
function forgetDead(opened: OpenedSchema): Promise<boolean> {
  const { schema } = opened;
  const isGone = sql`dead AND NOT ${hasDelivery(schema)}`;
  const lock = sql`SELECT string_agg(encode(id, 'hex'), ',') AS ids FROM (SELECT id FROM ${schema}.ids WHERE id IN (
  SELECT lead FROM ${schema}.outstanding AS o WHERE ${isGone} LIMIT ${batchRows}) ORDER BY id FOR UPDATE) AS locked;`;
  return inTransaction(opened.connections, lock, async (connection, locked) => {
    const joined = textOf(locked.at(-1)?.[0]?.['ids']);
    const ids = joined === '' ? [] : joined.split(',').map((id) => Buffer.from(id, 'hex'));
    const change = sql`DELETE FROM ${schema}.outstanding AS o WHERE lead = ANY(${ids}::bytea[]) AND ${isGone};`;
    await runToCommit(connection, change);
    return ids.length > 0;
  });
}

/** What no delivery shares any more. */
const dropContents = ({ schema }: OpenedSchema, before: number): Sql =>
  sql`DELETE FROM ${schema}.contents AS c WHERE received_at < ${Math.ceil(before)} AND NOT EXISTS (
    SELECT FROM ${schema}.deliveries AS d WHERE d.first_seq = c.seq AND d.received_at = c.received_at)`;

/** How long to wait for a lock on the whole table, in milliseconds: everybody else waits behind it. */
const lockMs = 1000;

/** How long a statement may take that counts or moves, in milliseconds. */
const slowMs = 600_000;

/**
 * Drops the partitions of a month, once what is outstanding was moved to the default partition. Returns the number of
 * deliveries that are gone. Throws what the database throws, such as that somebody else holds a lock (55P03).
 */
async function dropMonth(connection: Connection, schema: Sql, month: Month): Promise<number> {
  const deliveries = sql`${schema}.${partitionName('deliveries', month)}`;
  const contents = sql`${schema}.${partitionName('contents', month)}`;
  const isKept = sql`lead IN (SELECT lead FROM ${schema}.outstanding WHERE NOT dead)`;
  // Everything is counted as removed while receivers go on, and what is moved is subtracted.
  const [, , counted = []] = await connection.run(
    sql`BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('lock_timeout', '${integerLiteral(lockMs)}', true), set_config('statement_timeout', '0', true);
LOCK TABLE ${contents}, ${deliveries} IN SHARE MODE;
SELECT true AS is_locked;
SELECT count(*) FROM ${deliveries};
${countRemoved(schema, deliveries)};`,
    slowMs,
  );
  // From here on everybody waits, so only what is outstanding is moved, and nothing becomes outstanding meanwhile.
  const [moved = []] = await connection.run(
    sql`ALTER TABLE ${schema}.contents DETACH PARTITION ${contents};
ALTER TABLE ${schema}.deliveries DETACH PARTITION ${deliveries};
LOCK TABLE ${schema}.outstanding IN SHARE MODE;
INSERT INTO ${schema}.contents SELECT * FROM ${contents} WHERE seq IN (SELECT first_seq FROM ${deliveries} WHERE ${isKept});
WITH moved AS (INSERT INTO ${schema}.deliveries SELECT * FROM ${deliveries} WHERE ${isKept} RETURNING *),
counted AS (${countRemoved(schema, sql`moved`, true)}) SELECT count(*) FROM moved;
DROP TABLE ${contents}, ${deliveries};
COMMIT;`,
    slowMs,
  );
  return numberOf(counted[0]?.['count']) - numberOf(moved[0]?.['count']);
}
