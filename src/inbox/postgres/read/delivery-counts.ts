import { verdictRead } from '../../delivery-record.ts';
import { type CountQuery, type DeliveryCount, mostAttemptsCounted, type Source } from '../../query-types.ts';
import { isNull, numberOf, type Row, sql, textOf } from '../sql.ts';
import { ask, askOne, type OpenedSchema } from './read-database.ts';

/** Deliveries that one statement counts. */
const stepRows = 50_000;

/** As `Inbox.counts`. */
export async function* deliveryCounts(
  database: OpenedSchema,
  { since, until, partMs, isRemoved = false }: CountQuery,
): AsyncGenerator<readonly DeliveryCount[]> {
  const { schema } = database;
  const removed = await askOne(
    database,
    sql`SELECT (minute - ${since}) / ${partMs} AS part, verdict, reason, source, attempt, sum(count) AS count,
      NULL AS delays
    FROM ${schema}.removed WHERE minute >= ${since} AND minute < ${until} GROUP BY 1, 2, 3, 4, 5 HAVING sum(count) > 0`,
  );
  yield removed.map((row) => ({ ...countOf(row), isRemoved: true }));
  for (let from = isRemoved ? until : since; from < until;) {
    const [[border] = []] = await ask(
      database,
      sql`SELECT received_at AS at FROM ${schema}.deliveries WHERE received_at >= ${from} AND received_at < ${until}
        ORDER BY received_at OFFSET ${stepRows} LIMIT 1`,
    );
    // All that came in one millisecond is counted in one step.
    const to = border === undefined ? until : Math.max(numberOf(border['at']), from + 1);
    const rows = await askOne(
      database,
      sql`SELECT (received_at - ${since}) / ${partMs} AS part, verdict, reason, source,
        least(attempt, ${mostAttemptsCounted}) AS attempt, count(*) AS count,
        string_agg(greatest(0, received_at - created_at)::text, ',') FILTER (WHERE created_at IS NOT NULL) AS delays
      FROM ${schema}.deliveries WHERE received_at >= ${from} AND received_at < ${to} GROUP BY 1, 2, 3, 4, 5`,
    );
    yield rows.map(countOf);
    from = to;
  }
}

function countOf(row: Row): DeliveryCount {
  const reason = textOf(row['reason']) === '' ? undefined : textOf(row['reason']);
  return {
    part: numberOf(row['part']),
    verdict: verdictRead(row['verdict'], reason),
    reason,
    source: row['source'] as Source,
    attempt: numberOf(row['attempt']),
    count: numberOf(row['count']),
    isRemoved: false,
    delays: isNull(row['delays']) ? [] : textOf(row['delays']).split(',').map(Number),
  };
}
