import { createdAtNotKept, verdictRead } from '../delivery-record.ts';
import { type CountQuery, type DeliveryCount, mostAttemptsCounted, type Source } from '../query-types.ts';
import { type Database, type Row, textOf } from './libsql.ts';

/** Deliveries that one step counts: some milliseconds, in which nothing else is done in this thread. */
const stepRows = 10_000;

const isFirst = "verdict <> 'rejected' AND attempt = 1";

/** As `Inbox.counts`. A database of an earlier version, to which nobody writes here, has no index for it: it is one step. */
export async function* deliveryCounts(
  database: Database,
  { since, until, partMs, isRemoved = false }: CountQuery,
): AsyncGenerator<readonly DeliveryCount[]> {
  const isIndexed =
    database.prepare(`SELECT 1 FROM main.sqlite_master WHERE name = 'counted'`).all([]).length > 0;
  const index = isIndexed ? 'INDEXED BY counted' : '';
  const counted = database.prepare(
    `SELECT (received_at - CAST(?2 AS INTEGER)) / CAST(?3 AS INTEGER) AS part, verdict, reason, source,
     MIN(attempt, ${mostAttemptsCounted}) AS attempts, COUNT(*) AS count, SUM(${isFirst} AND created_at = ?1) AS unknown,
     json_group_array(MAX(0, received_at - created_at)) FILTER (WHERE created_at > ?1) AS delays
     FROM deliveries ${index} WHERE received_at >= ?4 AND received_at < ?5
     GROUP BY part, verdict, reason, source, attempts`,
  );
  const removed = database.prepare(
    `SELECT (minute - CAST(?1 AS INTEGER)) / CAST(?2 AS INTEGER) AS part, verdict, reason, source, attempt AS attempts,
     SUM(count) AS count, SUM(CASE WHEN ${isFirst} THEN count ELSE 0 END) AS unknown, '[]' AS delays
     FROM removed WHERE minute >= ?1 AND minute < ?3 GROUP BY part, verdict, reason, source, attempt`,
  );
  yield removed.all([since, partMs, until]).map((row) => ({ ...countOf(row), isRemoved: true }));
  const next = database.prepare(
    `SELECT received_at AS at FROM deliveries ${index} WHERE received_at >= ? AND received_at < ?
     ORDER BY received_at LIMIT 1 OFFSET ${stepRows}`,
  );
  for (let from = isRemoved ? until : since; from < until;) {
    const border = isIndexed ? next.all([from, until])[0]?.['at'] : undefined;
    // All that came in one millisecond is counted in one step.
    const to = typeof border === 'number' ? Math.max(border, from + 1) : until;
    yield counted.all([createdAtNotKept, since, partMs, from, to]).map(countOf);
    from = to;
    await Promise.resolve();
  }
}

function countOf(row: Row): DeliveryCount {
  const reason = textOf(row['reason']) === '' ? undefined : textOf(row['reason']);
  return {
    part: Number(row['part']),
    verdict: verdictRead(row['verdict'], reason),
    reason,
    source: textOf(row['source']) as Source,
    attempt: Number(row['attempts']),
    count: Number(row['count']),
    isRemoved: false,
    delays: JSON.parse(textOf(row['delays'])) as number[],
    delaysUnknown: Number(row['unknown'] ?? 0),
  };
}
