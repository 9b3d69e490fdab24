import type { Connection } from '../connection/database-connections.ts';
import { isAnswered } from '../postgres-errors.ts';
import { type Month, partitionName } from '../schema/partitions.ts';
import { numberOf } from '../sql/result-row.ts';
import { bare, type Sql, sql } from '../sql/sql.ts';

/** How long to wait for a lock on the whole table, in milliseconds: everybody else waits behind it. */
const lockMs = 1000;

/** How long a statement may take that counts or moves, in milliseconds. */
const slowMs = 600_000;

/**
 * Drops the partitions of a month, once what is outstanding was moved to the default partition. Returns the number of
 * deliveries that are gone. Throws what the database throws, such as that somebody else holds a lock (55P03).
 */
export async function dropMonth(connection: Connection, schema: Sql, month: Month): Promise<number> {
  const deliveries = sql`${schema}.${partitionName('deliveries', month)}`;
  const contents = sql`${schema}.${partitionName('contents', month)}`;
  const isKept = sql`lead IN (SELECT lead FROM ${schema}.outstanding)`;
  try {
    const [, , counted = []] = await connection.run(
      sql`BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('lock_timeout', '${bare(lockMs)}', true), set_config('statement_timeout', '0', true);
LOCK TABLE ${contents}, ${deliveries} IN SHARE MODE;
SELECT true AS is_locked;
SELECT count(*) FILTER (WHERE lead IS NULL OR NOT (${isKept})) AS gone FROM ${deliveries};`,
      slowMs,
    );
    // From here on everybody waits, so only what is outstanding is moved.
    await connection.run(
      sql`ALTER TABLE ${schema}.contents DETACH PARTITION ${contents};
ALTER TABLE ${schema}.deliveries DETACH PARTITION ${deliveries};
INSERT INTO ${schema}.contents SELECT * FROM ${contents} WHERE seq IN (SELECT first_seq FROM ${deliveries} WHERE ${isKept});
INSERT INTO ${schema}.deliveries SELECT * FROM ${deliveries} WHERE ${isKept};
DROP TABLE ${contents}, ${deliveries};
COMMIT;`,
      slowMs,
    );
    return numberOf(counted[0]?.['gone']);
  } catch (error) {
    if (isAnswered(error)) await connection.run(sql`ROLLBACK`);
    throw error;
  }
}
