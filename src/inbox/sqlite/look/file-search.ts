import type { InboxQuery } from '../../inbox.ts';
import type { Candidate, SearchStep } from '../../search/search-step.ts';
import { searchTerms } from '../../search/search-terms.ts';
import { bytesOf, fromColumn, placeOf, textOf } from '../column.ts';
import type { Value } from '../libsql.ts';
import { conditions, type ReadDatabase } from '../reader.ts';

/**
 * Deliveries that one step looks at, and bytes of bodies: some milliseconds, in which nothing else is done in this thread. A
 * step has as many rows as the bodies of the one before it let expect, and the first one a few.
 */
const firstRows = 100;
const mostRows = 1000;
const scannedBytes = 8 * 1024 * 1024;

/** Of the bodies that are read at once, unless a single one has more. */
const stepBytes = 4 * 1024 * 1024;

/** As `InboxChanges` says. */
export async function* searchFile(
  { database, version }: Pick<ReadDatabase, 'database' | 'version'>,
  text: string,
  query: InboxQuery,
): AsyncGenerator<SearchStep> {
  const { sql, values } = conditions(query);
  // Several leads of one delivery share its body.
  const body =
    version > 2
      ? 'CASE WHEN first_seq IS NULL THEN body ELSE (SELECT body FROM shared_content AS s WHERE s.seq = d.first_seq) END'
      : 'body';
  const { sql: mayHold, values: held } = mayHoldText(text, body);
  const range = database.prepare(
    `SELECT MIN(seq) AS bottom, COUNT(*) AS looked, SUM(size) AS bytes FROM
     (SELECT seq, length(${body}) AS size FROM deliveries AS d WHERE seq < ? ORDER BY seq DESC LIMIT ?)`,
  );
  const found = database.prepare(
    `SELECT seq, length(${body}) AS size FROM deliveries AS d
     WHERE seq < ? AND seq >= ? ${sql} AND ${mayHold} ORDER BY seq DESC`,
  );
  const bodies = database.prepare(
    `SELECT seq, lead, ${body} AS body${version > 2 ? ', lead_start, lead_end' : ''} FROM deliveries AS d
     WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`,
  );
  const candidates = (seqs: readonly number[]): Candidate[] =>
    bodies.all([JSON.stringify(seqs)]).map((row) => ({
      seq: Number(row['seq']),
      leadId: row['lead'] === null ? undefined : fromColumn(textOf(row['lead'])),
      body: bytesOf(row['body']),
      place: placeOf(row),
    }));
  let rows = firstRows;
  for (let top = query.before ?? Number.MAX_SAFE_INTEGER; ;) {
    const [edge] = range.all([top, rows]);
    const looked = Number(edge?.['looked'] ?? 0);
    if (looked === 0) return;
    const perRow = Math.max(1, Number(edge?.['bytes'] ?? 0) / looked);
    rows = Math.max(1, Math.min(mostRows, rows * 4, Math.floor(scannedBytes / perRow)));
    const bottom = Number(edge?.['bottom']);
    for (const seqs of bySize(found.all([top, bottom, ...values, ...held]))) {
      yield { candidates: candidates(seqs), looked: 0 };
    }
    yield { candidates: [], looked };
    if (bottom <= (query.after ?? 0) + 1) return;
    top = bottom;
    await Promise.resolve();
  }
}

/** A condition on the id and the body; it leaves out no delivery that holds the text. */
function mayHoldText(text: string, body: string): { sql: string; values: Value[] } {
  const { plain, escape } = searchTerms(text);
  if (plain === undefined) return { sql: 'TRUE', values: [] };
  const pattern = `%${plain.replace(/[%_~]/g, '~$&')}%`;
  return {
    // What an escape of a character of ASCII stands for is looked at by the caller, and so is a body that is no JSON and has
    // a NUL, at which LIKE ends.
    sql: `(lead LIKE ? ESCAPE '~' OR CAST(${body} AS TEXT) LIKE ? ESCAPE '~' OR instr(${body}, CAST(? AS BLOB)) > 0
      OR (verdict = 'rejected' AND instr(${body}, x'00') > 0))`,
    values: [pattern, pattern, escape],
  };
}

function* bySize(rows: readonly Readonly<Record<string, Value>>[]): Generator<readonly number[]> {
  let seqs: number[] = [];
  let bytes = 0;
  for (const { seq, size } of rows) {
    if (seqs.length > 0 && bytes + Number(size) > stepBytes) {
      yield seqs;
      [seqs, bytes] = [[], 0];
    }
    seqs.push(Number(seq));
    bytes += Number(size);
  }
  if (seqs.length > 0) yield seqs;
}
