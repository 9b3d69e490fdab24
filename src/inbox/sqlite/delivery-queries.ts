import { kindRead, otherEvent, verdictRead } from '../delivery-record.ts';
import type {
  AttemptKind,
  InboxQuery,
  StoredLeadQuery,
  Source,
  StoredDelivery,
  StoredLead,
  StoredResult,
} from '../inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { SharedContentTable } from './delivery-tables.ts';
import type { ErasedTable } from './erased-leads.ts';
import {
  bytesOf,
  type Database,
  fromColumn,
  placeOf,
  type Row,
  sharedSeqOf,
  type Statement,
  textOf,
  toColumn,
  type Value,
} from './libsql.ts';

/** Rows read at once: between two reads other work of this process gets its turn, and no transaction stays open. */
const pageRows = 200;

/** Of rows with their bodies: the first page, since many readers need no more, and how many bytes are to be read at once. */
const firstRows = 25;
const pageBytes = 4 * 1024 * 1024;

const resultsColumn = `(SELECT json_group_array(json_array(label, ok, answer, at, duration_ms, kind, address)) FROM
  (SELECT * FROM results LEFT JOIN targets ON name = target WHERE results.seq = deliveries.seq ORDER BY number))`;

export interface ReadDatabase {
  readonly database: Database;
  readonly shared: SharedContentTable;
  readonly erased: ErasedTable;
}

/** Newest first. */
export async function* deliveries(
  { database, shared }: ReadDatabase,
  query: InboxQuery,
): AsyncGenerator<StoredDelivery> {
  const { sql, values } = conditions(query);
  const page = database.prepare(
    `SELECT *, ${resultsColumn} AS results FROM deliveries WHERE seq < ? ${sql} ORDER BY seq DESC LIMIT ?`,
  );
  shared.forget();
  const size = new PageSize();
  for await (const row of rowsOf(page, query.before ?? Number.MAX_SAFE_INTEGER, values, size)) {
    yield deliveryOf(row, shared);
  }
}

/** Every lead once, in order of arrival. */
export async function* leads(
  { database, shared }: ReadDatabase,
  { state, since, until }: StoredLeadQuery,
): AsyncGenerator<StoredLead> {
  const { sql, values } = conditions({ since, until });
  shared.forget();
  const isWanted = state === undefined ? '' : `AND ${verdictConditions[state]}`;
  const page = database.prepare(
    `SELECT seq, lead, received_at, source, body, lead_start, lead_end, first_seq FROM deliveries WHERE seq > ? ${sql}
     AND seq = (SELECT leads.seq FROM leads WHERE leads.id = lead) ${isWanted}
     ORDER BY seq LIMIT ?`,
  );
  for await (const row of rowsOf(page, 0, values, new PageSize())) yield leadOf(row, shared);
}

/** How many rows to read next: more while they are small, so that bodies of a megabyte do not fill the memory. */
class PageSize {
  rows = firstRows;

  read(rows: readonly Row[]): void {
    const bytes = rows.reduce((sum, row) => sum + bytesOf(row['body']).length, 0);
    const perRow = Math.max(1, bytes / Math.max(1, rows.length));
    this.rows = Math.max(1, Math.min(pageRows, this.rows * 2, Math.floor(pageBytes / perRow)));
  }
}

/**
 * Page by page. The statement's first parameter is the `seq` that its page starts behind, the last one the number of
 * rows.
 */
async function* rowsOf(
  page: Statement,
  start: number,
  values: readonly Value[],
  size: PageSize,
): AsyncGenerator<Row> {
  let seq = start;
  for (;;) {
    const most = size.rows;
    const rows = page.all([seq, ...values, most]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < most) return;
    seq = Number(last['seq']);
    size.read(rows);
    await Promise.resolve();
  }
}

const verdictConditions = {
  accepted: "verdict = 'accepted'",
  duplicate: "verdict = 'duplicate'",
  waiting: "seq IN (SELECT seq FROM forwards WHERE state = 'waiting')",
  dead: "seq IN (SELECT seq FROM forwards WHERE state = 'dead')",
  rejected: `(verdict = 'rejected' AND reason IS NOT '${otherEvent}')`,
  other: `(verdict = 'rejected' AND reason = '${otherEvent}')`,
};

function conditions(query: InboxQuery): { sql: string; values: Value[] } {
  const parts: string[] = [];
  const values: Value[] = [];
  const add = (part: string, ...parameters: Value[]): void => {
    parts.push(`AND ${part}`);
    values.push(...parameters);
  };
  if (query.seq !== undefined) add('seq = ?', query.seq);
  if (query.firstSeq !== undefined) add('first_seq = ?', query.firstSeq);
  if (query.after !== undefined) add('seq > ?', query.after);
  if (query.since !== undefined) add('received_at >= ?', query.since);
  if (query.until !== undefined) add('received_at < ?', query.until);
  if (query.verdicts !== undefined) {
    const { verdicts } = query;
    const listed = verdicts.map((verdict) => verdictConditions[verdict]).join(' OR ');
    // Only a condition in these very words finds the index of the rejected ones.
    const isUntaken = verdicts.every((verdict) => verdict === 'rejected' || verdict === 'other');
    add(`${isUntaken ? "verdict = 'rejected' AND " : ''}(${listed})`);
  }
  if (query.leadId !== undefined) {
    // Three small searches instead of an index over every delivery: the first one, its repeats, and the rejected ones.
    const id = toColumn(query.leadId);
    add(
      `seq IN (SELECT seq FROM leads WHERE id = ? UNION SELECT seq FROM deliveries WHERE lead = ? AND attempt > 1
       UNION SELECT seq FROM deliveries WHERE verdict = 'rejected' AND lead = ?)`,
      id,
      id,
      id,
    );
  }
  return { sql: parts.join(' '), values };
}

function deliveryOf(row: Row, shared: SharedContentTable): StoredDelivery {
  const firstSeq = sharedSeqOf(row);
  const content = firstSeq === undefined ? undefined : shared.find(firstSeq);
  return {
    seq: Number(row['seq']),
    receivedAt: Number(row['received_at']),
    leadId: row['lead'] === null ? undefined : fromColumn(textOf(row['lead'])),
    verdict: verdictRead(row['verdict'], optional(row['reason'])),
    reason: optional(row['reason']),
    detail: optional(row['detail']),
    status: Number(row['status']),
    attempt: Number(row['attempt']),
    source: row['source'] as Source,
    remote: textOf(row['remote']),
    method: textOf(row['method']),
    path: textOf(row['path']),
    headers: content?.headers ?? (JSON.parse(textOf(row['headers'])) as [string, string][]),
    body: content?.body ?? bytesOf(row['body']),
    place: placeOf(row),
    firstSeq,
    differs: row['differs'] === null ? undefined : (JSON.parse(textOf(row['differs'])) as string[]),
    results: (JSON.parse(textOf(row['results'])) as ResultRow[]).map((one) =>
      resultOf(one, row['source'] as Source),
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
  [label, ok, answer, at, durationMs, kind, address]: ResultRow,
  source: Source,
): StoredResult => ({
  target: label ?? '',
  ok: ok === 1,
  answer,
  at,
  durationMs,
  kind: kindRead(kind, source),
  address: address ?? undefined,
});

export function leadOf(row: Row, shared: SharedContentTable): StoredLead {
  const firstSeq = sharedSeqOf(row);
  const content = firstSeq === undefined ? undefined : shared.find(firstSeq);
  return {
    leadId: fromColumn(textOf(row['lead'])),
    seq: Number(row['seq']),
    receivedAt: Number(row['received_at']),
    source: row['source'] as Source,
    body: leadBytes(content?.body ?? bytesOf(row['body']), placeOf(row)),
  };
}

const optional = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
