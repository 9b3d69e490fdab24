import { mostAttemptsCounted, removedPerMs } from '../../query-types.ts';
import { type Sql, sql } from '../sql.ts';

/**
 * Counts rows of `deliveries` that `gone` has and that the same statement deletes. Each connection counts in rows of its own:
 * for one that is shared, all writers would wait for each other.
 */
export const countRemoved = (schema: Sql, gone: Sql): Sql =>
  sql`INSERT INTO ${schema}.removed AS known SELECT received_at - received_at % ${removedPerMs}, verdict,
    coalesce(reason, ''), source, least(attempt, ${mostAttemptsCounted}), pg_backend_pid(), count(*)
    FROM ${gone} GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (minute, verdict, reason, source, attempt, backend) DO UPDATE SET count = known.count + excluded.count`;
