import type { Span } from '../../json/members.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { DatabaseReader } from '../driver.ts';
import type {
  AttemptKind,
  InboxQuery,
  ReceiptQuery,
  Source,
  StoredDelivery,
  StoredLead,
  StoredReceipt,
  StoredResult,
} from '../query-types.ts';
import type { DroppedRepeats, StoredLeadQuery } from '../inbox.ts';
import type { Dialect } from './dialect.ts';
import {
  attemptKindOfRow,
  bytesOf,
  numberOf,
  optionalNumber,
  optionalText,
  otherEvent,
  type Row,
  type Rows,
  textOf,
  textsIn,
  verdictOfRow,
} from './row.ts';
import { fromColumn, type Query, raw, sql, toColumn } from './statement.ts';

/** Rows that are read at once: between two reads other work of this process gets its turn. */
const pageRows = 200;

/** The first page of rows with bodies, since many readers need no more, and the bytes that are read at once. */
const firstRows = 25;
const pageBytes = 4 * 1024 * 1024;

/** How many rows to read next: more while they are small, so that bodies of a megabyte do not fill the memory. */
const nextRows = (rows: number, bytes: number, read: number, limit: number): number =>
  Math.max(1, Math.min(limit, rows * 2, Math.floor(pageBytes / Math.max(1, bytes / Math.max(1, read)))));

async function* pages(
  driver: DatabaseReader,
  page: (last: number | undefined, rows: number) => Query,
): AsyncGenerator<Rows> {
  let last: number | undefined;
  for (let limit = firstRows; ;) {
    const rows = await driver.read(page(last, limit));
    yield rows;
    if (rows.length < limit) return;
    last = numberOf(rows.at(-1)?.['seq']);
    const bytes = rows.reduce((sum, row) => sum + bytesOf(row['body']).length, 0);
    limit = nextRows(limit, bytes, rows.length, pageRows);
  }
}

export function placeOf({ lead_start: start, lead_end: end }: Row): Span | undefined {
  return typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;
}

const wholeBody = sql`CASE WHEN d.first_seq IS NULL THEN d.body ELSE (SELECT c.body FROM @contents AS c WHERE c.seq = d.first_seq) END`;

/** The lead's own bytes, of a row `d` of `deliveries`. */
export const payload = sql`CASE WHEN d.lead_start IS NULL THEN d.body
  ELSE substr(${wholeBody}, d.lead_start + 1, d.lead_end - d.lead_start) END`;

type Content = Pick<StoredDelivery, 'headers' | 'body'>;

const headersIn = (value: Row[string] | undefined): StoredDelivery['headers'] =>
  JSON.parse(textOf(value) || '[]') as [string, string][];

class ContentReader {
  readonly #driver: DatabaseReader;
  /** The leads of a delivery mostly follow each other. */
  #last: { readonly seq: number; readonly content: Content } | undefined;

  constructor(driver: DatabaseReader) {
    this.#driver = driver;
  }

  /** Reads the content of a row of `deliveries`; it is empty where a damaged file has lost it. */
  async contentOf(row: Row): Promise<Content> {
    const seq = optionalNumber(row['first_seq']);
    if (seq === undefined) return { headers: headersIn(row['headers']), body: bytesOf(row['body']) };
    if (this.#last?.seq === seq) return this.#last.content;
    const [shared] = await this.#driver.read(sql`SELECT headers, body FROM @contents WHERE seq = ${seq}`);
    const content = { headers: headersIn(shared?.['headers']), body: bytesOf(shared?.['body']) };
    this.#last = { seq, content };
    return content;
  }

  async leadOf(row: Row): Promise<StoredLead> {
    const { body } = await this.contentOf(row);
    return {
      leadId: fromColumn(textOf(row['lead'])),
      seq: numberOf(row['seq']),
      receivedAt: numberOf(row['received_at']),
      source: textOf(row['source']) as Source,
      body: leadBytes(body, placeOf(row)),
    };
  }
}

export async function* deliveries(driver: DatabaseReader, query: InboxQuery): AsyncGenerator<StoredDelivery> {
  const { dialect } = driver;
  const contents = new ContentReader(driver);
  const isWanted = conditions(query);
  const results = sql`(SELECT ${dialect.list(dialect.array('label, ok, answer, at, duration_ms, kind, address'))} FROM
    (SELECT * FROM @results AS r LEFT JOIN @targets ON name = target WHERE r.seq = d.seq ORDER BY number) AS one)`;
  const page = (last = query.before ?? Number.MAX_SAFE_INTEGER, rows: number): Query =>
    sql`SELECT d.*, ${results} AS results FROM @deliveries AS d WHERE seq < ${last} ${isWanted}
      ORDER BY seq DESC LIMIT ${rows}`;
  for await (const rows of pages(driver, page)) {
    for (const row of rows) yield deliveryOf(row, await contents.contentOf(row));
  }
}

export async function* leads(
  driver: DatabaseReader,
  { state, since, until }: StoredLeadQuery,
): AsyncGenerator<StoredLead> {
  const contents = new ContentReader(driver);
  const isWanted = conditions({ since, until, ...(state === undefined ? {} : { verdicts: [state] }) });
  const page = (last = 0, rows: number): Query =>
    sql`SELECT ${leadColumns} FROM @deliveries AS d WHERE seq > ${last} ${isWanted}
      AND seq = (SELECT l.seq FROM @leads AS l WHERE l.id = d.lead) ORDER BY seq LIMIT ${rows}`;
  for await (const rows of pages(driver, page)) for (const row of rows) yield contents.leadOf(row);
}

const leadColumns = raw('seq, lead, received_at, source, body, headers, lead_start, lead_end, first_seq');

export async function leadsBySeq(driver: DatabaseReader, seqs: readonly number[]): Promise<StoredLead[]> {
  const { dialect } = driver;
  const contents = new ContentReader(driver);
  const rows = await driver.read(
    sql`SELECT ${leadColumns} FROM ${dialect.each(seqs)} ${dialect.searched} @deliveries ON seq = CAST(asked.value AS BIGINT)`,
  );
  const stored: StoredLead[] = [];
  for (const row of rows) stored.push(await contents.leadOf(row));
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

function conditions(query: InboxQuery): Query {
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
    // Only a condition in these very words finds the index of the rejected ones.
    const isUntaken = verdicts.every((verdict) => verdict === 'rejected' || verdict === 'other');
    add(raw(`${isUntaken ? "verdict = 'rejected' AND " : ''}(${listed})`));
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
    results: (JSON.parse(textOf(row['results']) || '[]') as ResultRow[]).map((result) =>
      resultOf(result, source),
    ),
  };
}

type ResultRow = readonly [
  label: string | null,
  ok: number,
  answer: string,
  at: number,
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

const receiptRows = 1000;

/**
 * Does what `Inbox.receipts` says. A page of them comes as one row of columns, since a driver takes longer to make a row's object
 * than the database to find the row, and most of a delivery is not asked for.
 */
export async function* receipts(
  driver: DatabaseReader,
  { since, until, withRepeats }: ReceiptQuery,
): AsyncGenerator<readonly StoredReceipt[]> {
  const inTime = conditions({ since, until });
  let last = Number.MAX_SAFE_INTEGER;
  for (let limit = firstRows; ;) {
    const [row] = await driver.read(receiptsPage(driver.dialect, { last, limit, inTime, withRepeats }));
    const page = row === undefined ? [] : receiptsIn(row);
    if (page.length > 0) yield page;
    if (row === undefined || page.length < limit) return;
    last = page.at(-1)?.seq ?? 0;
    limit = nextRows(limit, bytesOf(row['bytes']).length, page.length, receiptRows);
  }
}

interface ReceiptsPage extends Pick<ReceiptQuery, 'withRepeats'> {
  readonly last: number;
  readonly limit: number;
  readonly inTime: Query;
}

function receiptsPage(dialect: Dialect, { last, limit, inTime, withRepeats }: ReceiptsPage): Query {
  const isAsked = raw(withRepeats ? 'attempt > 0' : 'attempt = 1 AND reason IS NULL');
  const columns = ['seq', 'received_at', 'verdict', 'reason', 'attempt', 'source'];
  const joined = columns.reduce(
    (all, name) => sql`${all}${dialect.joined(name)} AS ${raw(`${name}s`)}, `,
    sql``,
  );
  return sql`SELECT ${joined}${dialect.list('lead')} AS leads, ${dialect.joined("COALESCE(CAST(length(bytes) AS TEXT), '')")} AS lengths,
    ${dialect.joinedBytes('bytes')} AS bytes
    FROM (SELECT seq, received_at, lead, verdict, COALESCE(reason, '') AS reason, attempt, source,
      CASE WHEN ${isAsked} THEN COALESCE(${payload}, ${raw(dialect.noBytes)}) END AS bytes
      FROM @deliveries AS d${dialect.withoutIndex} WHERE seq < ${last} ${inTime} ORDER BY seq DESC LIMIT ${limit}) AS page`;
}

function receiptsIn(row: Row): readonly StoredReceipt[] {
  const column = (name: string): readonly string[] => textOf(row[name]).split(',');
  const columns = ['received_ats', 'verdicts', 'reasons', 'attempts', 'sources', 'lengths'];
  const [times = [], verdicts = [], reasons = [], attempts = [], sources = [], lengths = []] =
    columns.map(column);
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

export async function droppedRepeats(driver: DatabaseReader, leadId: string): Promise<DroppedRepeats> {
  const [row] = await driver.read(
    sql`SELECT differing, same FROM @dropped_repeats WHERE lead = ${toColumn(leadId)}`,
  );
  return { differing: numberOf(row?.['differing']), same: numberOf(row?.['same']) };
}
