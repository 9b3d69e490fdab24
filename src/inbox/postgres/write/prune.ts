import type { OpenedSchema } from '../read/read-database.ts';
import { numberOf, type Sql, sql, textOf } from '../sql.ts';
import { rejectsLock } from '../store-context.ts';
import { countRemoved } from './count-removed.ts';
import { hasDelivery } from './lease-plan.ts';
import { inTransaction, runToCommit } from './transaction.ts';

/** Deliveries that one transaction drops, so that a receiver never waits long. */
const batchRows = 500;

interface DroppedBatch {
  /** The last delivery that was looked at; undefined: there was none. */
  readonly last: number | undefined;
  readonly dropped: number;
}

/** How long contents may be looked for that no delivery shares any more, in milliseconds. */
const contentsMs = 60_000;

/**
 * Drops deliveries received before that time (ms since the epoch), but keeps the ids, and every lead that a target has not had,
 * unless it is dead. Resolves to the number of dropped deliveries.
 */
export async function pruneDeliveries(opened: OpenedSchema, before: number): Promise<number> {
  const { connections, schema } = opened;
  let dropped = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const batch: DroppedBatch = await dropBatch(opened, { before, after });
    dropped += batch.dropped;
    after = batch.last;
  }
  await connections.use((connection) => connection.run(dropContents(schema), contentsMs));
  while (await forgetDead(opened)) {
    // Others may lock these leads between two batches.
  }
  return dropped;
}

/**
 * Locks the ids of its leads, sorted, as every receiver does, so that none of them becomes outstanding meanwhile. What is
 * dropped are the deliveries whose leads were locked: while that was waited for, another process may have dropped some.
 */
function dropBatch(
  { connections, schema, lockKey }: OpenedSchema,
  { before, after }: { readonly before: number; readonly after: number },
): Promise<DroppedBatch> {
  const lock = sql`WITH batch AS MATERIALIZED (
  SELECT seq, lead FROM ${schema}.deliveries WHERE seq > ${after} AND received_at < ${Math.ceil(before)}
  ORDER BY seq LIMIT ${batchRows}
), locked AS MATERIALIZED (
  SELECT id FROM ${schema}.ids WHERE id IN (SELECT lead FROM batch WHERE lead IS NOT NULL) ORDER BY ids.id FOR UPDATE
) SELECT string_agg(seq::text, ',') AS seqs, (SELECT count(*) FROM locked) AS leads FROM batch;`;
  return inTransaction(connections, lock, async (connection, [locked]) => {
    const joined = textOf(locked?.[0]?.['seqs']);
    const seqs = joined === '' ? [] : joined.split(',').map(Number);
    const [, [row] = []] = await connection.run(
      sql`SELECT pg_advisory_xact_lock(${lockKey}::int4, ${rejectsLock}::int4);
WITH gone AS (
  DELETE FROM ${schema}.deliveries AS d WHERE d.seq = ANY(${seqs}::int8[])
    AND NOT EXISTS (SELECT FROM ${schema}.outstanding AS o WHERE o.lead = d.lead AND NOT o.dead) RETURNING *
), counted AS (${countRemoved(schema, sql`gone`)}) SELECT count(*) AS dropped FROM gone;`,
    );
    await runToCommit(connection);
    const last = seqs.length === 0 ? undefined : Math.max(...seqs);
    return { last, dropped: numberOf(row?.['dropped']) };
  });
}

/** What no delivery shares any more. */
const dropContents = (schema: Sql): Sql =>
  sql`DELETE FROM ${schema}.contents AS c WHERE NOT EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.first_seq = c.seq)`;

/**
 * Forgets what is dead and has no delivery any more: of what a newer one is kept, that one can still be handed on. Returns
 * whether there may be more.
 */
function forgetDead({ connections, schema }: OpenedSchema): Promise<boolean> {
  const isGone = sql`dead AND NOT ${hasDelivery(schema)}`;
  const lock = sql`SELECT string_agg(encode(id, 'hex'), ',') AS ids FROM (SELECT id FROM ${schema}.ids WHERE id IN (
  SELECT lead FROM ${schema}.outstanding AS o WHERE ${isGone} LIMIT ${batchRows}) ORDER BY id FOR UPDATE) AS locked;`;
  return inTransaction(connections, lock, async (connection, [locked]) => {
    const joined = textOf(locked?.[0]?.['ids']);
    const ids = joined === '' ? [] : joined.split(',').map((id) => Buffer.from(id, 'hex'));
    const change = sql`DELETE FROM ${schema}.outstanding AS o WHERE lead = ANY(${ids}::bytea[]) AND ${isGone};`;
    await runToCommit(connection, change);
    return ids.length > 0;
  });
}
