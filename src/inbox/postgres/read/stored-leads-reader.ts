import type { LeadQuery, Source, StoredLead } from '../../inbox.ts';
import { leadBytes } from '../../lead-bytes.ts';
import { bytesOf, isNull, numberOf, type Row } from '../sql/result-row.ts';
import { type Sql, sql } from '../sql/sql.ts';
import { ContentReader } from './content-reader.ts';
import { horizon } from './horizon.ts';
import { askOne, type ReadDatabase } from './read-database.ts';
import { placeOf, storedText } from './stored-columns.ts';

/** Rows read at once, and their bytes, unless a single row has more. */
const pageRows = 200;
const pageBytes = 4 * 1024 * 1024;

/** Of one statement: bodies may be large. */
const seqsAtOnce = 100;

const columns = sql`seq, encode(lead, 'hex') AS lead, received_at, source, encode(body, 'hex') AS body, lead_start,
  lead_end, first_seq`;

/** Every lead once, in order of arrival, of those that were there when the reading began. */
export async function* leads(
  database: ReadDatabase,
  { states = ['accepted'], since, until }: LeadQuery,
): AsyncGenerator<StoredLead> {
  const { schema } = database;
  const contents = new ContentReader(database);
  const last = await horizon(database);
  const conditions = {
    accepted: sql`i.accepted`,
    pending: sql`EXISTS (SELECT FROM ${schema}.outstanding AS o WHERE o.lead = i.id)`,
  };
  const wanted = states
    .map((state) => conditions[state])
    .reduce((all, one) => sql`${all} OR ${one}`, sql`false`);
  const from = since === undefined ? sql`` : sql`AND received_at >= ${Math.ceil(since)}`;
  const to = until === undefined ? sql`` : sql`AND received_at < ${Math.ceil(until)}`;
  const page = (after: number): Sql => sql`
WITH chosen AS (SELECT * FROM ${schema}.deliveries AS d WHERE seq > ${after} AND seq <= ${last} ${from} ${to}
  AND attempt = 1 AND reason IS NULL
  AND EXISTS (SELECT FROM ${schema}.ids AS i WHERE i.id = d.lead AND i.seq = d.seq AND (${wanted}))
  ORDER BY seq LIMIT ${pageRows}
), page AS (SELECT *, row_number() OVER oldest AS place, sum(octet_length(body)) OVER oldest AS bytes
  FROM chosen WINDOW oldest AS (ORDER BY seq)
)
SELECT ${columns} FROM page WHERE place = 1 OR bytes <= ${pageBytes} ORDER BY seq`;
  for (let after = 0; ;) {
    const rows = await askOne(database, page(after));
    for (const row of rows) {
      yield await leadOf(row, contents);
      after = numberOf(row['seq']);
    }
    if (rows.length === 0) return;
  }
}

/** The leads of those numbers. */
export async function leadsBySeq(database: ReadDatabase, seqs: readonly number[]): Promise<StoredLead[]> {
  const contents = new ContentReader(database);
  const found: StoredLead[] = [];
  for (let i = 0; i < seqs.length; i += seqsAtOnce) {
    const some = seqs.slice(i, i + seqsAtOnce);
    const rows = await askOne(
      database,
      sql`SELECT ${columns} FROM ${database.schema}.deliveries WHERE seq = ANY(${some}::int8[]) ORDER BY seq`,
    );
    for (const row of rows) found.push(await leadOf(row, contents));
  }
  return found;
}

async function leadOf(row: Row, contents: ContentReader): Promise<StoredLead> {
  const receivedAt = numberOf(row['received_at']);
  const content = isNull(row['first_seq'])
    ? undefined
    : await contents.find(numberOf(row['first_seq']), receivedAt);
  return {
    leadId: storedText(row['lead']),
    seq: numberOf(row['seq']),
    receivedAt,
    source: row['source'] as Source,
    body: leadBytes(content?.body ?? bytesOf(row['body']), placeOf(row)),
  };
}
