/**
 * Deletes what was stored. Deliveries go when they are old (`pruneSome`), too many (`trimRepeats`, `trimRejected`) or erased
 * (`eraseLeads`); `dropDeliveries`, below, counts each of them as removed.
 */
import type { Driver } from '../driver.ts';
import type { ErasedCounts, Erasure } from '../inbox.ts';
import { removedCountStepMs } from '../query-types.ts';
import { erasedIdDigest, hasMemberId, remainingContent, remainingPath } from '../remaining-content.ts';
import { maxRejectedKept, maxRepeatsKept } from '../store-options.ts';
import { isOfLead, placeOf } from './deliveries.ts';
import type { Dialect } from './dialect.ts';
import {
  bytesOf,
  leadHistoryOf,
  numberOf,
  listIn,
  optionalNumber,
  otherEvent,
  type Rows,
  textOf,
} from './row.ts';
import { ask, type Query, raw, sql, toColumn, type Work } from './statement.ts';

const prunedAtOnce = 250;

/**
 * Looks at some deliveries after the number `afterSeq`, so that a receiver never waits long, and drops those received before the time
 * `before`; a lead that waits for a target stays, as does every id. `lastSeq`: the last number that was looked at; undefined where no
 * delivery follows.
 */
export function* pruneSome(
  dialect: Dialect,
  before: number,
  afterSeq: number,
): Work<{ readonly dropped: number; readonly lastSeq: number | undefined }> {
  const isDropped = sql`received_at < ${Math.ceil(before)} AND NOT EXISTS (
      SELECT 1 FROM @forwards AS f WHERE f.lead = batch.lead AND f.state = 'waiting')`;
  const [row] = yield* ask(
    sql`SELECT COUNT(*) AS looked_at, MAX(seq) AS last_seq, ${dialect.list('seq', isDropped)} AS seqs
      FROM (SELECT seq, received_at, lead FROM @deliveries WHERE seq > ${afterSeq} ORDER BY seq LIMIT ${prunedAtOnce}) AS batch`,
  );
  const seqs = listIn(row?.['seqs']) as readonly number[];
  if (seqs.length > 0) {
    // A dead lead cannot be sent any more once its delivery is gone.
    yield [
      sql`DELETE FROM @forwards WHERE state = 'dead' AND seq IN (SELECT CAST(value AS BIGINT) FROM ${dialect.tableOf(seqs)})`,
    ];
  }
  yield* dropDeliveries(dialect, seqs);
  const isLast = numberOf(row?.['looked_at']) < prunedAtOnce;
  return { dropped: seqs.length, lastSeq: isLast ? undefined : optionalNumber(row?.['last_seq']) };
}

/**
 * Keeps the newest repeats of a lead. `differs`: the repeats with another payload than the first one, or those with the same. `id`: the
 * text of its column.
 */
export function trimRepeats(dialect: Dialect, id: string, differs: boolean): Work<void> {
  const where = sql`lead = ${id} AND attempt > 1 AND (differs IS NULL) = ${dialect.boolean(!differs)}`;
  return dropOldest(dialect, where, maxRepeatsKept);
}

/** Rejected deliveries and other events are trimmed apart: neither makes room for the other. */
export function trimRejected(dialect: Dialect, kind: 'rejected' | 'other'): Work<void> {
  const isOfKind = sql`(COALESCE(reason, '') = ${otherEvent}) = ${dialect.boolean(kind === 'other')}`;
  return dropOldest(dialect, sql`verdict = 'rejected' AND ${isOfKind}`, maxRejectedKept);
}

/** SQLite takes OFFSET only after a LIMIT. */
const noLimit = 1_000_000_000;

/** Drops all of these deliveries but the newest ones. */
function* dropOldest(dialect: Dialect, where: Query, keep: number): Work<void> {
  const [row] = yield* ask(
    sql`SELECT ${dialect.list('seq')} AS seqs FROM (SELECT seq FROM @deliveries WHERE ${where}
      ORDER BY seq DESC LIMIT ${noLimit} OFFSET ${keep}) AS old`,
  );
  yield* dropDeliveries(dialect, listIn(row?.['seqs']) as readonly number[]);
}

const bodiesAtOnce = 100;

/**
 * Finds the bodies of several leads that hold one of the ids, and gives their numbers in `contents`. The delivery of that id may
 * have been dropped, while the body stays for the others in it.
 */
export async function bodiesWithIds(driver: Driver, leadIds: readonly string[]): Promise<readonly number[]> {
  const ids = new Set(leadIds);
  const seqs: number[] = [];
  if (ids.size === 0) return seqs;
  for (let after = -1; ;) {
    const rows = await driver.read(
      sql`SELECT seq, body FROM @contents WHERE seq > ${after} ORDER BY seq LIMIT ${bodiesAtOnce}`,
    );
    for (const { seq, body } of rows) if (hasMemberId(bytesOf(body), ids)) seqs.push(numberOf(seq));
    if (rows.length < bodiesAtOnce) return seqs;
    after = numberOf(rows.at(-1)?.['seq']);
  }
}

/**
 * Deletes what the erasure names, and marks the database as one to be overwritten. `key`: the key of the inbox. `sharedBodies`: from
 * `bodiesWithIds`.
 */
export function* eraseLeads(
  dialect: Dialect,
  key: Uint8Array,
  { leadIds, rejected }: Erasure,
  sharedBodies: readonly number[],
): Work<ErasedCounts> {
  const erased: ErasedId[] = [];
  for (const leadId of new Set(leadIds)) erased.push(yield* eraseLead(dialect, key, leadId));
  const rejectedDeliveries: Rows = yield* ask(
    sql`SELECT seq, verdict, first_seq FROM @deliveries WHERE verdict = 'rejected'
      AND seq IN (SELECT CAST(value AS BIGINT) FROM ${dialect.tableOf(rejected)})`,
  );
  yield* dropDeliveries(dialect, seqsOf(rejectedDeliveries));
  const dropped = [...erased.flatMap(({ deliveries }) => deliveries), ...rejectedDeliveries];
  const requests = new Set(dropped.flatMap((row) => optionalNumber(row['first_seq']) ?? []));
  if (erased.some(({ isKnown }) => isKnown)) for (const seq of sharedBodies) requests.add(seq);
  for (const firstSeq of requests) yield* keepRemaining(firstSeq);
  const leads = erased.filter(({ isLead }) => isLead).length;
  if (dropped.length + leads > 0) yield [sql`UPDATE @meta SET overwrite_due = 1`];
  const rejectedCount = dropped.filter(({ verdict }) => verdict === 'rejected').length;
  const counts = { deliveries: dropped.length - rejectedCount, rejected: rejectedCount };
  return { leads, ...counts, waiting: erased.filter(({ isUndone }) => isUndone).length };
}

interface ErasedId {
  readonly deliveries: Rows;
  readonly isKnown: boolean;
  readonly isLead: boolean;
  readonly isUndone: boolean;
}

/** Deletes all that is stored of an id, and keeps a digest of it. An id that only came in rejected deliveries is erased as well. */
function* eraseLead(dialect: Dialect, key: Uint8Array, leadId: string): Work<ErasedId> {
  const id = toColumn(leadId);
  const [[lead] = [], deliveries = [], undone = []] = yield [
    sql`SELECT seq, first_at, attempts FROM @leads WHERE id = ${id}`,
    sql`SELECT seq, received_at AS first_at, 0 AS attempts, verdict, first_seq FROM @deliveries
      WHERE ${isOfLead(id)} ORDER BY seq`,
    sql`SELECT 1 AS one FROM @forwards WHERE lead = ${id} AND state <> 'done' LIMIT 1`,
  ];
  const first = lead ?? deliveries[0];
  if (first !== undefined) {
    const { seq, firstAt, attempts } = leadHistoryOf(first);
    yield* dropDeliveries(dialect, seqsOf(deliveries));
    yield [
      sql`INSERT INTO @erased VALUES (${erasedIdDigest(key, leadId)}, ${seq}, ${firstAt}, ${attempts}) ON CONFLICT DO NOTHING`,
      sql`DELETE FROM @forwards WHERE lead = ${id}`,
      sql`DELETE FROM @leads WHERE id = ${id}`,
    ];
  }
  return {
    deliveries,
    isKnown: first !== undefined,
    isLead: lead !== undefined,
    isUndone: undone.length > 0,
  };
}

const seqsOf = (deliveries: Rows): readonly number[] => deliveries.map(({ seq }) => numberOf(seq));

/** Removes from the body that several leads share all leads of which no delivery is stored any more. */
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

/** Deletes deliveries with their results and, where no other lead shares it, their content; and counts them as removed. */
function* dropDeliveries(dialect: Dialect, seqs: readonly number[]): Work<void> {
  if (seqs.length === 0) return;
  const chosen = sql`(SELECT CAST(value AS BIGINT) FROM ${dialect.tableOf(seqs)})`;
  const minute = raw(`received_at - received_at % ${removedCountStepMs}`);
  yield [
    sql`INSERT INTO @removed SELECT ${minute}, verdict, COALESCE(reason, ''), source,
        CASE WHEN attempt > 1 THEN 1 ELSE 0 END, COUNT(*) FROM @deliveries
      WHERE seq IN ${chosen} GROUP BY 1, 2, 3, 4, 5
      ON CONFLICT (minute, verdict, reason, source, is_repeat) DO UPDATE SET count = removed.count + excluded.count`,
    sql`DELETE FROM @results WHERE seq IN ${chosen}`,
    sql`DELETE FROM @contents WHERE seq IN (SELECT first_seq FROM @deliveries WHERE seq IN ${chosen} AND first_seq IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM @deliveries AS d WHERE d.first_seq = contents.seq AND d.seq NOT IN ${chosen})`,
    sql`DELETE FROM @deliveries WHERE seq IN ${chosen}`,
  ];
}
