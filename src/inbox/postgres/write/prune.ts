import type { OpenedSchema } from '../read/read-database.ts';
import { numberOf, type Sql, sql, textOf } from '../sql.ts';
import { rejectsLock } from '../store-context.ts';
import { countRemoved } from './count-removed.ts';
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
 * Drops deliveries received before that time (ms since the epoch), but keeps the ids, and every lead that waits for a target.
 * Resolves to the number of dropped deliveries.
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
  return dropped;
}

/**
 * Locks the ids of its leads, sorted, as every receiver does, so that none of them is erased meanwhile. What is
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
    AND NOT EXISTS (SELECT FROM ${schema}.forwards AS f WHERE f.lead = d.lead AND f.state = 'waiting') RETURNING *
), forgotten AS (
  DELETE FROM ${schema}.forwards AS f USING gone WHERE f.lead = gone.lead AND f.seq = gone.seq AND f.state = 'dead'
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
