import { verdictRead } from '../delivery-record.ts';
import type { ReceiptQuery, Source, StoredReceipt } from '../query-types.ts';
import { bytesOf, type Database, fromColumn, textOf, type Row } from './libsql.ts';

/** Rows read at once, and of their leads so many bytes: between two reads other work of this process gets its turn. */
const firstRows = 25;
const mostRows = 1000;
const pageBytes = 4 * 1024 * 1024;

/**
 * Receipts, newest first, a page of them as one row of columns: the driver takes longer to make a row's object than the
 * database to find the row, and most of a delivery is not asked for.
 */
export async function* receipts(
  database: Database,
  { since, until, withRepeats }: ReceiptQuery,
): AsyncGenerator<readonly StoredReceipt[]> {
  const shared = 'SELECT body FROM shared_content AS s WHERE s.seq = d.first_seq';
  const lead = `CASE WHEN lead_start IS NULL THEN body ELSE substr(CASE WHEN first_seq IS NULL THEN body ELSE (${shared}) END,
    lead_start + 1, lead_end - lead_start) END`;
  const page = database.prepare(
    `SELECT group_concat(seq) AS seqs, group_concat(received_at) AS times, json_group_array(lead) AS leads,
       group_concat(verdict) AS verdicts, group_concat(reason) AS reasons, group_concat(attempt) AS attempts,
       group_concat(source) AS sources, group_concat(coalesce(length(bytes), '')) AS lengths,
       CAST(group_concat(bytes, '') AS BLOB) AS bytes
     FROM (SELECT seq, received_at, lead, verdict, coalesce(reason, '') AS reason, attempt, source,
       CASE WHEN ${withRepeats ? 'TRUE' : 'attempt = 1 AND reason IS NULL'} THEN coalesce(${lead}, x'') END AS bytes
       FROM deliveries AS d NOT INDEXED WHERE seq < ? AND received_at >= ? AND received_at < ? ORDER BY seq DESC LIMIT ?)`,
  );
  const [from, to] = [since ?? Number.MIN_SAFE_INTEGER, until ?? Number.MAX_SAFE_INTEGER];
  let rows = firstRows;
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const [row] = page.all([before, from, to, rows]);
    const found = row === undefined || row['seqs'] === null ? [] : receiptsIn(row);
    const last = found.at(-1);
    if (row === undefined || last === undefined) return;
    before = last.seq;
    yield found;
    if (found.length < rows) return;
    const perRow = Math.max(1, bytesOf(row['bytes']).length / found.length);
    rows = Math.max(1, Math.min(mostRows, rows * 2, Math.floor(pageBytes / perRow)));
    await Promise.resolve();
  }
}

function receiptsIn(row: Row): readonly StoredReceipt[] {
  const column = (name: string): string[] => textOf(row[name]).split(',');
  const [times, verdicts, reasons, attempts, sources] = [
    'times',
    'verdicts',
    'reasons',
    'attempts',
    'sources',
  ].map(column);
  const lengths = column('lengths');
  const leads = JSON.parse(textOf(row['leads'])) as (string | null)[];
  const bytes = bytesOf(row['bytes']);
  let at = 0;
  return column('seqs').map((seq, i) => {
    const lead = leads[i];
    const reason = reasons?.[i] === '' ? undefined : reasons?.[i];
    const start = at;
    at += Number(lengths[i]);
    return {
      seq: Number(seq),
      receivedAt: Number(times?.[i]),
      leadId: typeof lead === 'string' ? fromColumn(lead) : undefined,
      verdict: verdictRead(verdicts?.[i], reason),
      reason,
      attempt: Number(attempts?.[i]),
      source: sources?.[i] as Source,
      lead: lengths[i] === '' ? undefined : bytes.subarray(start, at),
    };
  });
}
