import type { Driver } from '../driver.ts';
import { type CountQuery, type DeliveryCount, mostAttemptsCounted, type Source } from '../query-types.ts';
import { numberOf, numbersIn, optionalNumber, type Row, textOf, verdictOfRow } from './row.ts';
import { raw, sql } from './statement.ts';

const rowsPerStep = 10_000;

/**
 * Does what `Inbox.counts` says: first come the deliveries that were removed, which are stored as counts by the minute, and then
 * the stored ones, in steps, so that no read takes long. A delivery that is removed between two reads is in neither.
 */
export async function* deliveryCounts(
  driver: Driver,
  { since, until, partMs, onlyRemoved = false }: CountQuery,
): AsyncGenerator<readonly DeliveryCount[]> {
  const { dialect } = driver;
  const usingIndex = dialect.byIndex('counted');
  const partOf = (time: 'minute' | 'received_at') =>
    sql`(${raw(time)} - CAST(${since} AS BIGINT)) / CAST(${partMs} AS BIGINT) AS part`;
  const removed = await driver.read(
    sql`SELECT ${partOf('minute')}, verdict, reason, source, attempt AS attempts, CAST(SUM(count) AS BIGINT) AS count
      FROM @removed WHERE minute >= ${since} AND minute < ${until} GROUP BY part, verdict, reason, source, attempt`,
  );
  yield removed.map((row) => ({ ...countOf(row), isRemoved: true }));
  if (onlyRemoved) return;
  for (let from = since; from < until;) {
    const [afterStep] = await driver.read(
      sql`SELECT received_at AS at FROM @deliveries${usingIndex} WHERE received_at >= ${from} AND received_at < ${until}
        ORDER BY received_at LIMIT 1 OFFSET ${rowsPerStep}`,
    );
    // A step ends between two milliseconds, and is one long at least, however many deliveries came in it.
    const to = Math.max(optionalNumber(afterStep?.['at']) ?? until, from + 1);
    const attempts = raw(`${dialect.smaller}(attempt, ${mostAttemptsCounted})`);
    const delay = `${dialect.larger}(0, received_at - created_at)`;
    const rows = await driver.read(
      sql`SELECT ${partOf('received_at')}, verdict, reason, source, ${attempts} AS attempts, COUNT(*) AS count,
        ${dialect.joined(delay, sql`created_at IS NOT NULL`)} AS delays
        FROM @deliveries${usingIndex} WHERE received_at >= ${from} AND received_at < ${to}
        GROUP BY part, verdict, reason, source, attempts`,
    );
    yield rows.map(countOf);
    from = to;
  }
}

function countOf(row: Row): DeliveryCount {
  const reason = textOf(row['reason']) === '' ? undefined : textOf(row['reason']);
  return {
    part: numberOf(row['part']),
    verdict: verdictOfRow(row['verdict'], reason),
    reason,
    source: textOf(row['source']) as Source,
    attempt: numberOf(row['attempts']),
    count: numberOf(row['count']),
    isRemoved: false,
    delays: numbersIn(row['delays']),
  };
}
