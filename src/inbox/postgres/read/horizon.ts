import { numberOf } from '../sql/result-row.ts';
import { sql } from '../sql/sql.ts';
import { ask, type ReadDatabase } from './read-database.ts';

/** The part of a number that fits into a lock's name. */
const lockNumbers = 2 ** 31;

/**
 * The last number that a reader may pass: every delivery up to it is visible from now on, or will never be. Numbers are
 * not in the order in which transactions commit. So before a transaction draws numbers it locks the last number that was
 * drawn (`numberGate`), and holds that lock until it has committed: no transaction that is under way can have a number
 * up to the smallest number that is locked. The last number is read before the locks, and what the reader reads after
 * them. A transaction of another program, or one that draws no numbers, holds nothing back.
 *
 * The locks of a primary are not seen on a standby: there, and nowhere else, a reader may pass a number.
 */
export async function horizon(database: ReadDatabase): Promise<number> {
  const { schema, lockKey } = database;
  const last = sql`SELECT last_value FROM ${schema}.delivery_numbers;`;
  const [before = [], locks = [], after = []] = await ask(
    database,
    sql`${last} SELECT objid::int8 AS part FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
      AND classid = ${lockKey}::oid AND objsubid = 2 AND objid::int8 < ${lockNumbers}; ${last}`,
  );
  const lastNow = numberOf(after[0]?.['last_value']);
  const locked = locks.map(({ part }) => lastNow - ((lastNow - numberOf(part)) % lockNumbers));
  return Math.min(numberOf(before[0]?.['last_value']), ...locked);
}
