import type { InboxQuery } from '../../inbox.ts';
import type { SearchStep } from '../../search/search-step.ts';
import { searchTerms } from '../../search/search-terms.ts';
import { bytesOf, isNull, numberOf } from '../sql/result-row.ts';
import { type Sql, sql } from '../sql/sql.ts';
import { bytesOfText } from '../sql/text-bytes.ts';
import { conditions, outstandingSeqs } from './delivery-pages.ts';
import { horizon } from './horizon.ts';
import { ask, type ReadDatabase } from './read-database.ts';
import { optionalText, placeOf } from './stored-columns.ts';

/**
 * Deliveries that one statement looks at, and bytes of bodies: a search that nobody wants any more ends behind it. A step
 * has as many rows as the bodies of the one before it let expect, and the first one a few.
 */
const firstRows = 200;
const mostRows = 2000;
const scannedBytes = 8 * 1024 * 1024;

/** Of the bodies that one statement brings, unless a single one has more. */
const stepBytes = 2 * 1024 * 1024;

/** As `InboxChanges` says. */
export async function* searchDatabase(
  database: ReadDatabase,
  text: string,
  query: InboxQuery,
): AsyncGenerator<SearchStep> {
  const { schema } = database;
  const last = await horizon(database);
  const outstanding = query.verdicts?.includes('pending') === true ? await outstandingSeqs(database) : [];
  const wanted = conditions(schema, query, outstanding);
  let most = firstRows;
  for (let top = Math.min(last + 1, query.before ?? Number.MAX_SAFE_INTEGER); ;) {
    const [[edge] = []] = await ask(
      database,
      sql`SELECT min(seq) AS bottom, count(*) AS looked, sum(octet_length(body)) AS bytes FROM
        (SELECT seq, body FROM ${schema}.deliveries WHERE seq < ${top} ORDER BY seq DESC LIMIT ${most}) AS step;`,
    );
    const looked = numberOf(edge?.['looked'] ?? 0);
    if (looked === 0) return;
    const bottom = numberOf(edge?.['bottom']);
    const perRow = Math.max(1, numberOf(edge?.['bytes'] ?? 0) / looked);
    most = Math.max(1, Math.min(mostRows, most * 4, Math.floor(scannedBytes / perRow)));
    for (let below = top; ;) {
      const range = sql`seq < ${below} AND seq >= ${bottom} ${wanted}`;
      const [rows = []] = await ask(database, candidatesIn(schema, range, mayHold(text)));
      const candidates = rows.map((row) => ({
        seq: numberOf(row['seq']),
        leadId: isNull(row['lead']) ? undefined : optionalText(row['lead']),
        body: bytesOf(row['body']),
        place: placeOf(row),
      }));
      yield { candidates, looked: 0 };
      const end = candidates.at(-1);
      if (end === undefined) break;
      below = end.seq;
    }
    yield { candidates: [], looked };
    if (bottom <= (query.after ?? 0) + 1) return;
    top = bottom;
  }
}

/** The first of them, as far as their bodies are not too much at once. */
const candidatesIn = (schema: Sql, range: Sql, mayHoldIt: Sql): Sql => sql`
WITH chosen AS (SELECT d.seq, d.lead, d.lead_start, d.lead_end, coalesce((SELECT c.body FROM ${schema}.contents AS c
    WHERE c.seq = d.first_seq AND c.received_at = d.received_at), d.body) AS whole
  FROM ${schema}.deliveries AS d WHERE ${range}
), matching AS (SELECT *, row_number() OVER newest AS place, sum(octet_length(whole)) OVER newest AS bytes FROM chosen
  WHERE ${mayHoldIt} WINDOW newest AS (ORDER BY seq DESC)
)
SELECT seq, encode(lead, 'hex') AS lead, encode(whole, 'hex') AS body, lead_start, lead_end FROM matching
WHERE place = 1 OR bytes <= ${stepBytes} ORDER BY seq DESC;`;

/** A condition on the id and the body; it leaves out no delivery that holds the text. */
function mayHold(text: string): Sql {
  const { plain, escape } = searchTerms(text);
  if (plain === undefined) return sql`true`;
  // Bytes beyond ASCII become octal numbers, so that this is text in every encoding; some locales have an i of their own.
  const isIn = (column: Sql): Sql =>
    sql`strpos(lower(encode(${column}, 'escape') COLLATE "C"), encode(${bytesOfText(plain)}, 'escape')) > 0`;
  return sql`(${isIn(sql`coalesce(lead, '')`)} OR ${isIn(sql`whole`)}
    OR position(${bytesOfText(escape)} IN whole) > 0)`;
}
