import type { DatabaseReader } from '../driver.ts';
import { mostAttemptsCounted } from '../query-types.ts';
import type { CountQuery, DeliveryCount, ReceiptQuery, Source, StoredReceipt } from '../query-types.ts';
import { conditions, firstRows, payload, rowsAfter } from './deliveries.ts';
import {
  bytesOf,
  numberOf,
  numbersIn,
  optionalNumber,
  type Row,
  textOf,
  textsIn,
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
  const columns = ['seq', 'received_at', 'verdict', 'reason', 'attempt', 'source'];
  const joined = raw(columns.map((name) => `${dialect.joined(name).text} AS ${name}s`).join(', '));
  const length = "COALESCE(CAST(length(bytes) AS TEXT), '')";
  const hasBytes = raw(withRepeats ? 'attempt > 0' : 'attempt = 1 AND reason IS NULL');
  const pageQuery = (lastSeq: number, limit: number): Query =>
    sql`SELECT ${joined}, ${dialect.list('lead')} AS leads, ${dialect.joined(length)} AS lengths,
      ${dialect.joinedBytes('bytes')} AS bytes
      FROM (SELECT seq, received_at, lead, verdict, COALESCE(reason, '') AS reason, attempt, source,
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

/** The receipts of one row of `receipts`. The bytes of all receipts follow each other; a length of '' stands for no bytes. */
function receiptsIn(row: Row): readonly StoredReceipt[] {
  const valuesOf = (column: string): readonly string[] => textOf(row[column]).split(',');
  const [times, verdicts, reasons] = [valuesOf('received_ats'), valuesOf('verdicts'), valuesOf('reasons')];
  const [attempts, sources, lengths] = [valuesOf('attempts'), valuesOf('sources'), valuesOf('lengths')];
  const ids = JSON.parse(textOf(row['leads']) || '[]') as (string | null)[];
  const bytes = bytesOf(row['bytes']);
  let end = 0;
  return textsIn(row['seqs']).map((seq, i) => {
    const id = ids[i];
    const reason = reasons[i] === '' ? undefined : reasons[i];
    const start = end;
    end += Number(lengths[i]);
    return {
      seq: Number(seq),
      receivedAt: Number(times[i]),
      leadId: typeof id === 'string' ? fromColumn(id) : undefined,
      verdict: verdictOfRow(verdicts[i], reason),
      reason,
      attempt: Number(attempts[i]),
      source: textOf(sources[i]) as Source,
      lead: lengths[i] === '' ? undefined : bytes.subarray(start, end),
    };
  });
}
