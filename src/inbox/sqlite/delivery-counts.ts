import { verdictRead } from '../delivery-record.ts';
import { type CountQuery, type DeliveryCount, mostAttemptsCounted, type Source } from '../query-types.ts';
import { type Database, type Row, textOf } from './libsql.ts';

/** Deliveries that one step counts: some milliseconds, in which nothing else is done in this thread. */
const stepRows = 10_000;

/** As `Inbox.counts`. */
export async function* deliveryCounts(
  database: Database,
  { since, until, partMs, isRemoved = false }: CountQuery,
): AsyncGenerator<readonly DeliveryCount[]> {
  const counted = database.prepare(
    `SELECT (received_at - CAST(?1 AS INTEGER)) / CAST(?2 AS INTEGER) AS part, verdict, reason, source,
     MIN(attempt, ${mostAttemptsCounted}) AS attempts, COUNT(*) AS count,
     json_group_array(MAX(0, received_at - created_at)) FILTER (WHERE created_at IS NOT NULL) AS delays
     FROM deliveries INDEXED BY counted WHERE received_at >= ?3 AND received_at < ?4
     GROUP BY part, verdict, reason, source, attempts`,
  );
  const removed = database.prepare(
    `SELECT (minute - CAST(?1 AS INTEGER)) / CAST(?2 AS INTEGER) AS part, verdict, reason, source, attempt AS attempts,
     SUM(count) AS count, '[]' AS delays
     FROM removed WHERE minute >= ?1 AND minute < ?3 GROUP BY part, verdict, reason, source, attempt`,
  );
  yield removed.all([since, partMs, until]).map((row) => ({ ...countOf(row), isRemoved: true }));
  const next = database.prepare(
    `SELECT received_at AS at FROM deliveries INDEXED BY counted WHERE received_at >= ? AND received_at < ?
     ORDER BY received_at LIMIT 1 OFFSET ${stepRows}`,
  );
  for (let from = isRemoved ? until : since; from < until;) {
    const border = next.all([from, until])[0]?.['at'];
    // All that came in one millisecond is counted in one step.
    const to = typeof border === 'number' ? Math.max(border, from + 1) : until;
    yield counted.all([since, partMs, from, to]).map(countOf);
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
  };
}
