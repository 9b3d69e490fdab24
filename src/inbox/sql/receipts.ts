import type { DatabaseReader } from '../driver.ts';
import type {
  CountQuery,
  DeliveryCount,
  ReceiptQuery,
  RemovedCount,
  Source,
  StoredReceipt,
} from '../query-types.ts';
import { conditions, firstRows, payload, rowsAfter } from './deliveries.ts';
import {
  bytesOf,
  listIn,
  numberOf,
  optionalNumber,
  optionalText,
  type Row,
  textOf,
  verdictOfRow,
} from './row.ts';
import { fromColumn, type Query, raw, sql } from './statement.ts';

const rowsPerStep = 10_000;

/**
 * Does what `Inbox.counts` says: first come the deliveries that were removed, which are stored as counts by the minute, and then
 * the stored ones, in steps, so that no read takes long. A delivery that is removed between two reads is in neither.
 */
export async function* deliveryCounts(
  driver: DatabaseReader,
  { since, until, partMs }: CountQuery,
): AsyncGenerator<readonly DeliveryCount[]> {
  const usingIndex = driver.dialect.byIndex('counted');
  const partOf = (time: 'minute' | 'received_at') =>
    sql`(${raw(time)} - CAST(${since} AS BIGINT)) / CAST(${partMs} AS BIGINT) AS part`;
  const removed = await driver.read(
    sql`SELECT ${partOf('minute')}, verdict, reason, CAST(SUM(count) AS BIGINT) AS count
      FROM @removed WHERE minute >= ${since} AND minute < ${until} GROUP BY part, verdict, reason`,
  );
  yield removed.map((row) => countOf(row, true));
  for (let from = since; from < until;) {
    const [afterStep] = await driver.read(
      sql`SELECT received_at AS at FROM @deliveries${usingIndex} WHERE received_at >= ${from} AND received_at < ${until}
        ORDER BY received_at LIMIT 1 OFFSET ${rowsPerStep}`,
    );
    // A step ends between two milliseconds, and is one long at least, however many deliveries came in it.
    const to = Math.max(optionalNumber(afterStep?.['at']) ?? until, from + 1);
    const rows = await driver.read(
      sql`SELECT ${partOf('received_at')}, verdict, reason, COUNT(*) AS count
        FROM @deliveries${usingIndex} WHERE received_at >= ${from} AND received_at < ${to} GROUP BY part, verdict, reason`,
    );
    yield rows.map((row) => countOf(row, false));
    from = to;
  }
}

const countOf = (row: Row, isRemoved: boolean): DeliveryCount => ({
  part: numberOf(row['part']),
  verdict: verdictOfRow(row['verdict'], optionalText(row['reason'])),
  count: numberOf(row['count']),
  isRemoved,
});

/** Does what `Inbox.removedCounts` says. */
export async function removedCounts(
  driver: DatabaseReader,
  { since, until }: Pick<CountQuery, 'since' | 'until'>,
): Promise<readonly RemovedCount[]> {
  const rows = await driver.read(
    sql`SELECT verdict, reason, source, is_repeat, CAST(SUM(count) AS BIGINT) AS count
      FROM @removed WHERE minute >= ${since} AND minute < ${until} GROUP BY verdict, reason, source, is_repeat`,
  );
  return rows.map((row) => {
    const reason = textOf(row['reason']) || undefined;
    return {
      verdict: verdictOfRow(row['verdict'], reason),
      reason,
      source: textOf(row['source']) as Source,
      isRepeat: numberOf(row['is_repeat']) === 1,
      count: numberOf(row['count']),
    };
  });
}

const maxReceipts = 1000;

/**
 * Does what `Inbox.receipts` says. Each page comes as one row, in which the values of a column are joined: a driver takes longer to
 * make a row's object than the database to find the row, and most of a delivery is not read here.
 */
export async function* receipts(
  driver: DatabaseReader,
  { since, until, withRepeats }: ReceiptQuery,
): AsyncGenerator<readonly StoredReceipt[]> {
  const { dialect } = driver;
  const columns = dialect.array('seq, received_at, lead, verdict, reason, attempt, source, length(bytes)');
  const hasBytes = raw(withRepeats ? 'attempt > 0' : 'attempt = 1 AND reason IS NULL');
  const pageQuery = (lastSeq: number, limit: number): Query =>
    sql`SELECT ${dialect.list(columns)} AS receipts, ${dialect.joinedBytes('bytes')} AS bytes
      FROM (SELECT seq, received_at, lead, verdict, reason, attempt, source,
        CASE WHEN ${hasBytes} THEN COALESCE(${payload}, ${raw(dialect.noBytes)}) END AS bytes
        FROM @deliveries AS d${dialect.withoutIndex} WHERE seq < ${lastSeq} ${conditions({ since, until })}
        ORDER BY seq DESC LIMIT ${limit}) AS page`;
  let lastSeq = Number.MAX_SAFE_INTEGER;
  for (let limit = firstRows; ;) {
    const [row = {}] = await driver.read(pageQuery(lastSeq, limit));
    const page = receiptsIn(row);
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    lastSeq = page.at(-1)?.seq ?? 0;
    limit = rowsAfter(page.length, bytesOf(row['bytes']).length, maxReceipts);
  }
}

type ReceiptRow = readonly [
  seq: number,
  receivedAt: number,
  lead: string | null,
  verdict: string,
  reason: string | null,
  attempt: number,
  source: Source,
  length: number | null,
];

/** The receipts of one row of `receipts`. The bytes of all receipts follow each other. */
function receiptsIn(row: Row): readonly StoredReceipt[] {
  const rows = listIn(row['receipts']) as readonly ReceiptRow[];
  const bytes = bytesOf(row['bytes']);
  let end = 0;
  return rows.map(([seq, receivedAt, id, verdict, reason, attempt, source, length]) => {
    const start = end;
    end += length ?? 0;
    return {
      seq,
      receivedAt,
      leadId: id === null ? undefined : fromColumn(id),
      verdict: verdictOfRow(verdict, reason ?? undefined),
      reason: reason ?? undefined,
      attempt,
      source,
      lead: length === null ? undefined : bytes.subarray(start, end),
    };
  });
}
