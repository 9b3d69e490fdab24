import type { VerdictKind } from '../decide.ts';
import type { InboxQuery, Source, StoredDelivery, StoredLead } from '../inbox.ts';
import { bytesOf, fromColumn, textOf, toColumn } from './column.ts';
import type { Database, Row, Statement, Value } from './libsql.ts';

/** Rows read at once: between two reads other work of this process gets its turn, and no transaction stays open. */
const pageRows = 200;

/** Newest first. */
export async function* deliveries(database: Database, query: InboxQuery): AsyncGenerator<StoredDelivery> {
  const { sql, values } = conditions(query);
  const page = database.prepare(
    `SELECT * FROM deliveries WHERE seq < ? ${sql} ORDER BY seq DESC LIMIT ${pageRows}`,
  );
  for await (const row of rowsOf(page, Number.MAX_SAFE_INTEGER, values)) yield deliveryOf(row);
}

/** Every accepted lead once, in order of arrival. */
export async function* leads(
  database: Database,
  query: Pick<InboxQuery, 'since' | 'until'>,
): AsyncGenerator<StoredLead> {
  const { sql, values } = conditions(query);
  const page = database.prepare(
    `SELECT seq, lead, received_at, source, body FROM deliveries WHERE seq > ? ${sql}
     AND seq = (SELECT leads.seq FROM leads WHERE leads.id = lead AND leads.state = 'accepted')
     ORDER BY seq LIMIT ${pageRows}`,
  );
  for await (const row of rowsOf(page, 0, values)) yield leadOf(row);
}

/** Page by page. The statement's first parameter is the `seq` that its page starts behind. */
async function* rowsOf(page: Statement, start: number, values: readonly Value[]): AsyncGenerator<Row> {
  let seq = start;
  for (;;) {
    const rows = page.all([seq, ...values]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    seq = Number(last['seq']);
    await Promise.resolve();
  }
}

function conditions(query: InboxQuery): { sql: string; values: Value[] } {
  const parts: string[] = [];
  const values: Value[] = [];
  const add = (part: string, ...parameters: Value[]): void => {
    parts.push(`AND ${part}`);
    values.push(...parameters);
  };
  if (query.seq !== undefined) add('seq = ?', query.seq);
  if (query.since !== undefined) add('received_at >= ?', query.since);
  if (query.until !== undefined) add('received_at < ?', query.until);
  if (query.verdicts !== undefined) {
    add(`verdict IN (${query.verdicts.map(() => '?').join(', ')})`, ...query.verdicts);
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

function deliveryOf(row: Row): StoredDelivery {
  return {
    seq: Number(row['seq']),
    receivedAt: Number(row['received_at']),
    leadId: row['lead'] === null ? undefined : fromColumn(textOf(row['lead'])),
    verdict: row['verdict'] as VerdictKind,
    reason: optional(row['reason']),
    detail: optional(row['detail']),
    status: Number(row['status']),
    attempt: Number(row['attempt']),
    source: row['source'] as Source,
    remote: textOf(row['remote']),
    method: textOf(row['method']),
    path: textOf(row['path']),
    headers: JSON.parse(textOf(row['headers'])) as [string, string][],
    body: bytesOf(row['body']),
    differs: row['differs'] === null ? undefined : (JSON.parse(textOf(row['differs'])) as string[]),
  };
}

const leadOf = (row: Row): StoredLead => ({
  leadId: fromColumn(textOf(row['lead'])),
  seq: Number(row['seq']),
  receivedAt: Number(row['received_at']),
  source: row['source'] as Source,
  body: bytesOf(row['body']),
});

const optional = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
