import { mostAttemptsCounted, removedPerMs } from '../query-types.ts';
import type { Dialect } from './dialect.ts';
import { numbersIn, optionalNumber, type Rows } from './row.ts';
import { ask, raw, sql, type Work } from './statement.ts';

/** Deletes deliveries and all that is kept for them alone, and counts them as removed. */
export function* dropDeliveries(dialect: Dialect, seqs: readonly number[]): Work<void> {
  const chosen = sql`(SELECT CAST(value AS BIGINT) FROM ${dialect.each(seqs)})`;
  const attempt = raw(`${dialect.smaller}(attempt, ${mostAttemptsCounted})`);
  const minute = raw(`received_at - received_at % ${removedPerMs}`);
  yield [
    sql`INSERT INTO @removed SELECT ${minute}, verdict, COALESCE(reason, ''), source, ${attempt}, COUNT(*) FROM @deliveries
      WHERE seq IN ${chosen} GROUP BY 1, 2, 3, 4, 5
      ON CONFLICT (minute, verdict, reason, source, attempt) DO UPDATE SET count = removed.count + excluded.count`,
    sql`DELETE FROM @results WHERE seq IN ${chosen}`,
    sql`DELETE FROM @contents WHERE seq IN (SELECT first_seq FROM @deliveries WHERE seq IN ${chosen} AND first_seq IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM @deliveries AS d WHERE d.first_seq = contents.seq AND d.seq NOT IN ${chosen})`,
    sql`DELETE FROM @deliveries WHERE seq IN ${chosen}`,
  ];
}

/** Deliveries that one transaction looks at, so that a receiver never waits long. */
const pruneRows = 500;

/**
 * Drops deliveries received before that time, those after number `after`, but keeps the ids, and every lead that waits for a
 * target. `last`: the last one that was looked at; undefined: there was no other.
 */
export function* pruneSome(
  dialect: Dialect,
  before: number,
  after: number,
): Work<{ readonly dropped: number; readonly last: number | undefined }> {
  const rows: Rows = yield* ask(
    sql`SELECT MAX(seq) AS last, ${dialect.joined(
      'seq',
      sql`received_at < ${Math.ceil(before)} AND NOT EXISTS (
      SELECT 1 FROM @forwards AS f WHERE f.lead = batch.lead AND f.state = 'waiting')`,
    )} AS seqs
      FROM (SELECT seq, received_at, lead FROM @deliveries WHERE seq > ${after} ORDER BY seq LIMIT ${pruneRows}) AS batch`,
  );
  const [row] = rows;
  const seqs = numbersIn(row?.['seqs']);
  if (seqs.length > 0) {
    // A dead lead cannot be sent any more once its delivery is gone.
    yield [
      sql`DELETE FROM @forwards WHERE state = 'dead' AND seq IN (SELECT CAST(value AS BIGINT) FROM ${dialect.each(seqs)})`,
    ];
    yield* dropDeliveries(dialect, seqs);
  }
  return { dropped: seqs.length, last: optionalNumber(row?.['last']) };
}
