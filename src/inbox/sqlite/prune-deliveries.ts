import type { Database } from './libsql.ts';

/** Deliveries that one transaction looks at, so that a receiver on the same inbox never waits long. */
const batchRows = 500;

/** Runs a part of the work in a transaction. */
type Transact = <T>(work: () => T) => Promise<T>;

/**
 * Drops deliveries received before that time, but keeps the ids, and every lead that a target has not had. Resolves to
 * the number of dropped deliveries.
 */
export async function pruneDeliveries(
  database: Database,
  before: number,
  transact: Transact,
): Promise<number> {
  const batch = `SELECT seq, received_at, lead FROM deliveries WHERE seq > ?1 ORDER BY seq LIMIT ${batchRows}`;
  const end = database.prepare(`SELECT MAX(seq) AS seq FROM (${batch})`);
  const drop = database.prepare(
    `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM (${batch}) AS old WHERE received_at < ?2
     AND NOT EXISTS (SELECT 1 FROM work WHERE work.lead = old.lead AND done = 0))`,
  );
  let dropped = 0;
  for (let start: number | null = 0; start !== null;) {
    const after: number = start;
    start = await transact(() => {
      const last = end.get([after])?.['seq'];
      if (typeof last !== 'number') return null;
      dropped += drop.run([after, before]).changes;
      return last;
    });
  }
  return dropped;
}
