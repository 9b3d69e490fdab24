import type { Span } from '../../json/members.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { DatabaseReader } from '../driver.ts';
import type {
  AttemptKind,
  InboxQuery,
  Source,
  StoredDelivery,
  StoredLead,
  StoredResult,
} from '../query-types.ts';
import type { StoredLeadQuery } from '../inbox.ts';
import {
  attemptKindOfRow,
  bytesOf,
  listIn,
  numberOf,
  optionalNumber,
  optionalText,
  otherEvent,
  type Row,
  type Rows,
  textOf,
  verdictOfRow,
} from './row.ts';
import { fromColumn, type Query, raw, sql, toColumn } from './statement.ts';

/**
 * Rows are read in pages: between two reads other work of this process gets its turn. The first page is small, since many readers need
 * no more; the next ones grow up to `maxRows`, or fewer rows where these are so large that they would fill the memory (`pageBytes`).
 */
export const firstRows = 25;
const maxRows = 200;
const pageBytes = 4 * 1024 * 1024;

/** How many rows to read after a page of so many rows and bytes. */
export const rowsAfter = (rows: number, bytes: number, limit: number): number =>
  Math.max(1, Math.min(limit, rows * 2, Math.floor((pageBytes * rows) / Math.max(1, bytes))));

/** Reads rows until a page is not full. `pageQuery` gets the last number so far, and how many rows it is to have. */
async function* pages(
  driver: DatabaseReader,
  pageQuery: (lastSeq: number | undefined, limit: number) => Query,
): AsyncGenerator<Rows> {
  let lastSeq: number | undefined;
  for (let limit = firstRows; ;) {
    const rows = await driver.read(pageQuery(lastSeq, limit));
    yield rows;
    if (rows.length < limit) return;
    lastSeq = numberOf(rows.at(-1)?.['seq']);
    const bytes = rows.reduce((sum, row) => sum + bytesOf(row['body']).length, 0);
    limit = rowsAfter(rows.length, bytes, maxRows);
  }
}

/** The place of a lead in the body of its delivery; undefined where the body is the lead. */
export function placeOf({ lead_start: start, lead_end: end }: Row): Span | undefined {
  return typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;
}

const wholeBody = sql`CASE WHEN d.first_seq IS NULL THEN d.body ELSE (SELECT c.body FROM @contents AS c WHERE c.seq = d.first_seq) END`;

/** The expression for the lead's own bytes, of a row `d` of `deliveries`. SQL counts bytes from 1. */
export const payload = sql`CASE WHEN d.lead_start IS NULL THEN d.body
  ELSE substr(${wholeBody}, d.lead_start + 1, d.lead_end - d.lead_start) END`;

type Content = Pick<StoredDelivery, 'headers' | 'body'>;

/**
 * Makes the function that reads the content of a row of `deliveries`; it is empty where a damaged file has lost it. The last content that
 * several leads share is kept, since these mostly follow each other.
 */
function contentReader(driver: DatabaseReader): (row: Row) => Promise<Content> {
  let last: { readonly firstSeq: number; readonly content: Content } | undefined;
  return async (row) => {
    const firstSeq = optionalNumber(row['first_seq']);
    if (firstSeq === undefined) return contentIn(row);
    if (last?.firstSeq !== firstSeq) {
      const [shared = {}] = await driver.read(
        sql`SELECT headers, body FROM @contents WHERE seq = ${firstSeq}`,
      );
      last = { firstSeq, content: contentIn(shared) };
    }
    return last.content;
  };
}

const contentIn = ({ headers = null, body = null }: Row): Content => ({
  headers: listIn(headers) as Content['headers'],
  body: bytesOf(body),
});

const storedLead = (row: Row, { body }: Content): StoredLead => ({
  leadId: fromColumn(textOf(row['lead'])),
  seq: numberOf(row['seq']),
  receivedAt: numberOf(row['received_at']),
  body: leadBytes(body, placeOf(row)),
});

export async function* deliveries(driver: DatabaseReader, query: InboxQuery): AsyncGenerator<StoredDelivery> {
  const { dialect } = driver;
  const contentOf = contentReader(driver);
  const filter = conditions(query);
  const results = sql`(SELECT ${dialect.list(dialect.array('label, ok, answer, at, duration_ms, kind, address'))} FROM
    (SELECT * FROM @results AS r LEFT JOIN @targets ON name = target WHERE r.seq = d.seq ORDER BY number) AS one)`;
  const pageQuery = (lastSeq = query.before ?? Number.MAX_SAFE_INTEGER, limit: number): Query =>
    sql`SELECT d.*, ${results} AS results FROM @deliveries AS d WHERE seq < ${lastSeq} ${filter}
      ORDER BY seq DESC LIMIT ${limit}`;
  for await (const rows of pages(driver, pageQuery)) {
    for (const row of rows) yield deliveryOf(row, await contentOf(row));
  }
}

export async function* leads(
  driver: DatabaseReader,
  { state, since, until }: StoredLeadQuery,
): AsyncGenerator<StoredLead> {
  const contentOf = contentReader(driver);
  const filter = conditions({ since, until, verdicts: state === undefined ? undefined : [state] });
  const pageQuery = (lastSeq = 0, limit: number): Query =>
    sql`SELECT ${leadColumns} FROM @deliveries AS d WHERE seq > ${lastSeq} ${filter}
      AND seq = (SELECT l.seq FROM @leads AS l WHERE l.id = d.lead) ORDER BY seq LIMIT ${limit}`;
  for await (const rows of pages(driver, pageQuery))
    for (const row of rows) yield storedLead(row, await contentOf(row));
}

const leadColumns = raw('seq, lead, received_at, body, headers, lead_start, lead_end, first_seq');

export async function leadsBySeq(driver: DatabaseReader, seqs: readonly number[]): Promise<StoredLead[]> {
  const { dialect } = driver;
  const contentOf = contentReader(driver);
  const rows = await driver.read(
    sql`SELECT ${leadColumns} FROM ${dialect.tableOf(seqs)} ${dialect.joinBySearch} @deliveries ON seq = CAST(asked.value AS BIGINT)`,
  );
  const stored: StoredLead[] = [];
  for (const row of rows) stored.push(storedLead(row, await contentOf(row)));
  return stored;
}

const verdictConditions = {
  accepted: "verdict = 'accepted'",
  duplicate: "verdict = 'duplicate'",
  waiting: "seq IN (SELECT f.seq FROM @forwards AS f WHERE state = 'waiting')",
  dead: "seq IN (SELECT f.seq FROM @forwards AS f WHERE state = 'dead')",
  rejected: `(verdict = 'rejected' AND COALESCE(reason, '') <> '${otherEvent}')`,
  other: `(verdict = 'rejected' AND reason = '${otherEvent}')`,
};

/** The conditions of a query, each after an AND. */
export function conditions(query: InboxQuery): Query {
  const { seq, firstSeq, after, since, until, verdicts, leadId } = query;
  let all = sql``;
  const add = (part: Query): void => {
    all = sql`${all} AND ${part}`;
  };
  if (seq !== undefined) add(sql`seq = ${seq}`);
  if (firstSeq !== undefined) add(sql`first_seq = ${firstSeq}`);
  if (after !== undefined) add(sql`seq > ${after}`);
  if (since !== undefined) add(sql`received_at >= ${Math.ceil(since)}`);
  if (until !== undefined) add(sql`received_at < ${Math.ceil(until)}`);
  if (verdicts !== undefined) {
    const listed = verdicts.map((verdict) => verdictConditions[verdict]).join(' OR ');
    // The databases use the index `rejects` only where its own condition is a part of the query.
    const fitsIndex = verdicts.every((verdict) => verdict === 'rejected' || verdict === 'other');
    add(raw(`${fitsIndex ? "verdict = 'rejected' AND " : ''}(${listed})`));
  }
  if (leadId !== undefined) add(isOfLead(toColumn(leadId)));
  return all;
}

/**
 * The condition for all deliveries of a lead: its first one, its repeats, and rejected ones. These three searches need no index over
 * every delivery. `id`: the text of its column.
 */
export const isOfLead = (id: string): Query =>
  sql`seq IN (SELECT l.seq FROM @leads AS l WHERE id = ${id}
    UNION SELECT r.seq FROM @deliveries AS r WHERE lead = ${id} AND attempt > 1
    UNION SELECT r.seq FROM @deliveries AS r WHERE verdict = 'rejected' AND lead = ${id})`;

function deliveryOf(row: Row, { headers, body }: Content): StoredDelivery {
  const source = textOf(row['source']) as Source;
  const [lead, reason, detail, differs] = ['lead', 'reason', 'detail', 'differs'].map((name) =>
    optionalText(row[name]),
  );
  return {
    seq: numberOf(row['seq']),
    receivedAt: numberOf(row['received_at']),
    leadId: lead === undefined ? undefined : fromColumn(lead),
    verdict: verdictOfRow(row['verdict'], reason),
    reason,
    detail: detail === undefined ? undefined : fromColumn(detail),
    status: numberOf(row['status']),
    attempt: numberOf(row['attempt']),
    source,
    remote: textOf(row['remote']),
    method: textOf(row['method']),
    path: textOf(row['path']),
    headers,
    body,
    place: placeOf(row),
    firstSeq: optionalNumber(row['first_seq']),
    differs: differs === undefined ? undefined : (JSON.parse(differs) as string[]),
    results: (listIn(row['results']) as readonly ResultRow[]).map((result) => resultOf(result, source)),
  };
}

/** A result as the JSON array in which it is read with its delivery. */
type ResultRow = readonly [
  label: string | null,
  ok: number,
  answer: string,
  endedAt: number,
  durationMs: number,
  kind: AttemptKind,
  address: string | null,
];

const resultOf = (
  [label, ok, answer, endedAt, durationMs, kind, address]: ResultRow,
  source: Source,
): StoredResult => ({
  target: fromColumn(label ?? ''),
  ok: ok === 1,
  answer: fromColumn(answer),
  at: endedAt,
  durationMs,
  kind: attemptKindOfRow(kind, source),
  address: address ?? undefined,
});
