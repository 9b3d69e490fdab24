import type { VerdictKind } from '../../decide-verdict.ts';
import { kindRead, verdictRead } from '../../delivery-record.ts';
import { leadBytes } from '../../../lead/raw-lead.ts';
import type { ReceiptQuery, StoredReceipt } from '../../query-types.ts';
import type { InboxQuery, Source, StoredDelivery, StoredResult } from '../../inbox.ts';
import { bytesOf, bytesOfText, isNull, numberOf, type Row, type Sql, sql, textOf } from '../sql.ts';
import {
  askOne,
  ContentReader,
  headersIn,
  horizon,
  optionalText,
  placeOf,
  type OpenedSchema,
  resultsIn,
  storedText,
} from './read-database.ts';

/** Rows read at once, and their bytes, unless a single row has more. */
const pageRows = 200;
const pageBytes = 4 * 1024 * 1024;

/** Newest first, of those that were there when the reading began. */
export async function* deliveries(database: OpenedSchema, query: InboxQuery): AsyncGenerator<StoredDelivery> {
  const contents = new ContentReader(database);
  const last = await horizon(database);
  for (let below = Math.min(last + 1, query.before ?? Number.MAX_SAFE_INTEGER); ;) {
    const rows = await askOne(database, page(database.schema, query, below));
    for (const row of rows) yield await deliveryOf(row, contents);
    const end = rows.at(-1);
    if (end === undefined) return;
    below = numberOf(end['seq']);
  }
}

const page = (schema: Sql, query: InboxQuery, below: number): Sql => sql`
WITH chosen AS (SELECT * FROM ${schema}.deliveries AS d WHERE seq < ${below} ${conditions(schema, query)}
  ORDER BY seq DESC LIMIT ${pageRows}
), page AS (SELECT *, row_number() OVER newest AS place, sum(octet_length(body) + octet_length(headers)) OVER newest AS bytes
  FROM chosen WINDOW newest AS (ORDER BY seq DESC)
)
SELECT seq, received_at, encode(lead, 'hex') AS lead, verdict, reason, encode(detail, 'hex') AS detail, attempt, source,
  status, encode(differs, 'hex') AS differs, encode(remote, 'hex') AS remote, encode(method, 'hex') AS method,
  encode(path, 'hex') AS path, encode(headers, 'hex') AS headers, encode(body, 'hex') AS body, lead_start, lead_end,
  first_seq, encode(results, 'hex') AS results
FROM page WHERE place = 1 OR bytes <= ${pageBytes} ORDER BY seq DESC`;

/** Rows of which no bytes are asked for take little room. */
const receiptRows = 1000;

/** What is counted of each delivery, newest first, of those that were there when the reading began. */
export async function* receipts(
  database: OpenedSchema,
  { since, until, withRepeats }: ReceiptQuery,
): AsyncGenerator<readonly StoredReceipt[]> {
  const { schema } = database;
  const contents = new ContentReader(database);
  const wanted = withRepeats ? sql`true` : sql`attempt = 1 AND reason IS NULL`;
  for (let below = (await horizon(database)) + 1; ;) {
    const rows = await askOne(
      database,
      sql`WITH chosen AS (SELECT seq, received_at, lead, verdict, reason, attempt, source, lead_start, lead_end,
  CASE WHEN ${wanted} THEN body END AS body, CASE WHEN ${wanted} THEN first_seq END AS first_seq
  FROM ${schema}.deliveries AS d WHERE seq < ${below} ${conditions(schema, { since, until })}
  ORDER BY seq DESC LIMIT ${receiptRows}
), page AS (SELECT *, row_number() OVER newest AS place, sum(octet_length(body)) OVER newest AS bytes
  FROM chosen WINDOW newest AS (ORDER BY seq DESC)
)
SELECT seq, received_at, encode(lead, 'hex') AS lead, verdict, reason, attempt, source, encode(body, 'hex') AS body,
  lead_start, lead_end, first_seq
FROM page WHERE place = 1 OR coalesce(bytes, 0) <= ${pageBytes} ORDER BY seq DESC`,
    );
    const found: StoredReceipt[] = [];
    for (const row of rows) found.push(await receiptOf(row, contents));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield found;
    below = numberOf(end['seq']);
  }
}

async function receiptOf(row: Row, contents: ContentReader): Promise<StoredReceipt> {
  const content = isNull(row['first_seq']) ? undefined : await contents.find(numberOf(row['first_seq']));
  const body = content?.body ?? (isNull(row['body']) ? undefined : bytesOf(row['body']));
  const reason = isNull(row['reason']) ? undefined : textOf(row['reason']);
  return {
    seq: numberOf(row['seq']),
    receivedAt: numberOf(row['received_at']),
    leadId: optionalText(row['lead']),
    verdict: verdictRead(row['verdict'], reason),
    reason,
    attempt: numberOf(row['attempt']),
    source: row['source'] as Source,
    lead: body && leadBytes(body, placeOf(row)),
  };
}

function conditions(schema: Sql, query: InboxQuery): Sql {
  let all = sql``;
  const add = (part: Sql): void => {
    all = sql`${all} AND ${part}`;
  };
  if (query.seq !== undefined) add(sql`seq = ${query.seq}`);
  if (query.firstSeq !== undefined) add(sql`first_seq = ${query.firstSeq}`);
  if (query.after !== undefined) add(sql`seq > ${query.after}`);
  if (query.since !== undefined) add(sql`received_at >= ${Math.ceil(query.since)}`);
  if (query.until !== undefined) add(sql`received_at < ${Math.ceil(query.until)}`);
  if (query.verdicts !== undefined) add(verdictIs(schema, query.verdicts));
  if (query.leadId !== undefined) {
    // Three small searches instead of an index over every delivery: the first one, its repeats, and the rejected ones.
    const id = bytesOfText(query.leadId);
    add(sql`seq = ANY(ARRAY(SELECT seq FROM ${schema}.ids WHERE id = ${id}
      UNION SELECT seq FROM ${schema}.deliveries WHERE lead = ${id} AND attempt > 1
      UNION SELECT seq FROM ${schema}.deliveries WHERE reason IS NOT NULL AND lead = ${id}))`);
  }
  return all;
}

function verdictIs(schema: Sql, verdicts: readonly (VerdictKind | 'waiting' | 'dead')[]): Sql {
  // Only conditions on the reason find the index of the rejected ones.
  const conditions = {
    accepted: sql`verdict = 'accepted'`,
    duplicate: sql`verdict = 'duplicate'`,
    rejected: sql`reason <> 'other_event'`,
    other: sql`reason = 'other_event'`,
    waiting: sql`seq IN (SELECT seq FROM ${schema}.forwards WHERE state = 'waiting')`,
    dead: sql`seq IN (SELECT seq FROM ${schema}.forwards WHERE state = 'dead')`,
  };
  const all = verdicts.map((verdict) => conditions[verdict]);
  return sql`(${all.reduce((some, one) => sql`${some} OR ${one}`)})`;
}

const resultsOf = (row: Row): StoredResult[] =>
  resultsIn(storedText(row['results'])).map((result) => ({
    ...result,
    kind: kindRead(result.kind, row['source'] as Source),
  }));

async function deliveryOf(row: Row, contents: ContentReader): Promise<StoredDelivery> {
  const firstSeq = isNull(row['first_seq']) ? undefined : numberOf(row['first_seq']);
  const content = firstSeq === undefined ? undefined : await contents.find(firstSeq);
  const differs = optionalText(row['differs']);
  const reason = isNull(row['reason']) ? undefined : textOf(row['reason']);
  return {
    seq: numberOf(row['seq']),
    receivedAt: numberOf(row['received_at']),
    leadId: optionalText(row['lead']),
    verdict: verdictRead(row['verdict'], reason),
    reason,
    detail: optionalText(row['detail']),
    status: numberOf(row['status']),
    attempt: numberOf(row['attempt']),
    source: row['source'] as Source,
    remote: storedText(row['remote']),
    method: storedText(row['method']),
    path: storedText(row['path']),
    headers: content?.headers ?? headersIn(row['headers']),
    body: content?.body ?? bytesOf(row['body']),
    place: placeOf(row),
    firstSeq,
    differs: differs === undefined ? undefined : (JSON.parse(differs) as string[]),
    results: resultsOf(row),
  };
}
