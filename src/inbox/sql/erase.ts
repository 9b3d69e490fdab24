import { erasedIdDigest, hasMemberId, remainingContent, remainingPath } from '../remaining-content.ts';
import type { Driver } from '../driver.ts';
import type { ErasedCounts, Erasure } from '../inbox.ts';
import { placeOf } from './deliveries.ts';
import type { Dialect } from './dialect.ts';
import { dropDeliveries } from './removal.ts';
import { leadHistoryOf } from './store-batch.ts';
import { bytesOf, numberOf, optionalNumber, type Rows, textOf } from './row.ts';
import { ask, sql, toColumn, type Work } from './statement.ts';

const pageRows = 100;

/**
 * The numbers of those bodies of several leads that hold one of the ids: its record may have been dropped while others of the
 * same body stayed.
 */
export async function bodiesWithIds(driver: Driver, leadIds: readonly string[]): Promise<readonly number[]> {
  const ids = new Set(leadIds);
  const holding: number[] = [];
  if (ids.size === 0) return holding;
  for (let after = -1; ;) {
    const rows = await driver.read(
      sql`SELECT seq, body FROM @contents WHERE seq > ${after} ORDER BY seq LIMIT ${pageRows}`,
    );
    for (const { seq, body } of rows) if (hasMemberId(bytesOf(body), ids)) holding.push(numberOf(seq));
    if (rows.length < pageRows) return holding;
    after = numberOf(rows.at(-1)?.['seq']);
  }
}

/** Deletes what `erasure` names, and notes that the database is to be overwritten. `holding`: from `bodiesWithIds`. */
export function* eraseLeads(
  dialect: Dialect,
  key: Uint8Array,
  { leadIds, rejected }: Erasure,
  holding: readonly number[],
): Work<ErasedCounts> {
  const counts = { leads: 0, deliveries: 0, rejected: 0, waiting: 0 };
  const shared = new Set<number>();
  let isKnown = false;
  for (const leadId of new Set(leadIds)) {
    const id = toColumn(leadId);
    const [[lead] = [], deliveries = [], [waiting] = []] = yield [
      sql`SELECT seq, first_at, attempts FROM @leads WHERE id = ${id}`,
      sql`SELECT seq, received_at AS first_at, 0 AS attempts, verdict, first_seq FROM @deliveries WHERE seq IN (
        SELECT l.seq FROM @leads AS l WHERE id = ${id}
        UNION SELECT r.seq FROM @deliveries AS r WHERE lead = ${id} AND attempt > 1
        UNION SELECT r.seq FROM @deliveries AS r WHERE verdict = 'rejected' AND lead = ${id}) ORDER BY seq`,
      sql`SELECT 1 AS one FROM @forwards WHERE lead = ${id} AND state <> 'done' LIMIT 1`,
    ];
    yield* drop(deliveries);
    // An id that was only rejected is erased as well: nothing of it is to be stored any more.
    const first = lead ?? deliveries[0];
    if (first === undefined) continue;
    isKnown = true;
    if (lead !== undefined) counts.leads += 1;
    if (waiting !== undefined) counts.waiting += 1;
    const { seq, firstAt, attempts } = leadHistoryOf(first);
    const digest = erasedIdDigest(key, leadId);
    yield [
      sql`INSERT INTO @erased VALUES (${digest}, ${seq}, ${firstAt}, ${attempts}) ON CONFLICT DO NOTHING`,
      sql`DELETE FROM @forwards WHERE lead = ${id}`,
      sql`DELETE FROM @dropped_repeats WHERE lead = ${id}`,
      sql`DELETE FROM @leads WHERE id = ${id}`,
    ];
  }
  if (rejected.length > 0) {
    yield* drop(
      yield* ask(
        sql`SELECT seq, verdict, first_seq FROM @deliveries WHERE verdict = 'rejected'
          AND seq IN (SELECT CAST(value AS BIGINT) FROM ${dialect.each(rejected)})`,
      ),
    );
  }
  for (const firstSeq of isKnown ? [...shared, ...holding] : shared) yield* keepRemaining(firstSeq);
  if (counts.deliveries + counts.rejected + counts.leads > 0) yield [sql`UPDATE @meta SET overwrite_due = 1`];
  return counts;

  function* drop(deliveries: Rows): Work<void> {
    if (deliveries.length === 0) return;
    for (const { verdict, first_seq: firstSeq } of deliveries) {
      counts[verdict === 'rejected' ? 'rejected' : 'deliveries'] += 1;
      const seq = optionalNumber(firstSeq);
      if (seq !== undefined) shared.add(seq);
    }
    yield* dropDeliveries(
      dialect,
      deliveries.map(({ seq }) => numberOf(seq)),
    );
  }
}

/** Only those leads stay in a delivery of several that have a row. */
function* keepRemaining(firstSeq: number): Work<void> {
  const [rows = [], [content] = []] = yield [
    sql`SELECT seq, path, lead_start, lead_end FROM @deliveries WHERE first_seq = ${firstSeq}`,
    sql`SELECT headers, body FROM @contents WHERE seq = ${firstSeq}`,
  ];
  if (content === undefined) return;
  const headers = JSON.parse(textOf(content['headers'])) as [string, string][];
  const places = rows.flatMap((row) => placeOf(row) ?? []);
  const remaining = remainingContent({ path: '', headers, body: bytesOf(content['body']) }, places);
  yield [
    sql`UPDATE @contents SET headers = ${JSON.stringify(remaining.headers)}, body = ${remaining.body} WHERE seq = ${firstSeq}`,
    ...rows.map(
      ({ seq, path }) =>
        sql`UPDATE @deliveries SET path = ${remainingPath(textOf(path))} WHERE seq = ${numberOf(seq)}`,
    ),
  ];
}
