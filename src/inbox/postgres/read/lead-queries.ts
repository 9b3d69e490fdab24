import type { ReceivedLeads } from '../../query-types.ts';
import type { StoredLeadQuery, Source, StoredLead } from '../../inbox.ts';
import { leadBytes } from '../../../lead/raw-lead.ts';
import type { StoreQueries } from '../../store-reader.ts';
import { erasedLeads, type ErasedLeads, erasedQuestion } from '../erased-rows.ts';
import { bytesOf, bytesOfText, hexOf, isNull, numberOf, own, type Row, type Sql, sql, textOf } from '../sql.ts';
import { askOne, ContentReader, horizon, placeOf, type OpenedSchema, storedText } from './read-database.ts';

/** Rows of the table `ids` read at once. */
const pageRows = 10_000;

/** Looks leads up in batches, as `ReceivedLeads` says. */
export function leadLookup(
  database: OpenedSchema,
): Pick<StoreQueries, Exclude<keyof ReceivedLeads, 'leadsBySeq'> | 'has'> {
  const { schema } = database;
  /** Those of the ids that are known, by the ids in hex, and those that were erased. */
  const find = async (
    leadIds: readonly string[],
    columns: Sql,
  ): Promise<{ readonly rows: ReadonlyMap<string, Row>; readonly erased: ErasedLeads }> => {
    if (leadIds.length === 0) return { rows: new Map(), erased: new Map() };
    const found = await askOne(
      database,
      sql`SELECT encode(id, 'hex') AS id, ${columns} FROM ${schema}.ids AS i
        WHERE id = ANY(${leadIds.map(bytesOfText)}::bytea[])`,
    );
    const rows = new Map(found.map((row) => [textOf(row['id']), row]));
    const others = leadIds.filter((leadId) => !rows.has(keyOf(leadId)));
    if (others.length === 0) return { rows, erased: new Map() };
    return {
      rows,
      erased: erasedLeads(database, others, await askOne(database, erasedQuestion(database, others))),
    };
  };
  return {
    async lookUp(leadIds) {
      const { rows, erased } = await find(
        leadIds,
        sql`seq, first_at, encode(digest, 'hex') AS digest,
          EXISTS (SELECT FROM ${schema}.forwards AS f WHERE f.lead = i.id AND f.state <> 'done') AS is_waiting`,
      );
      return leadIds.map((leadId) => {
        const row = rows.get(keyOf(leadId));
        const gone = erased.get(leadId);
        if (gone !== undefined) {
          return { seq: gone.seq, receivedAt: gone.firstAt, digest: undefined, isWaiting: false };
        }
        return (
          row && {
            seq: numberOf(row['seq']),
            receivedAt: numberOf(row['first_at']),
            digest: textOf(row['digest']),
            isWaiting: row['is_waiting'] === true,
          }
        );
      });
    },
    async has(leadIds) {
      const { rows, erased } = await find(leadIds, sql`seq`);
      return new Set(leadIds.filter((leadId) => rows.has(keyOf(leadId)) || erased.has(leadId)));
    },
    async *seqsSince(since) {
      const last = await horizon(database);
      const seqs = sql`string_agg(seq::text, ',') FILTER (WHERE first_at >= ${Math.ceil(since)} AND seq <= ${last})`;
      for await (const row of pages(database, seqs)) yield numbersIn(row);
    },
    async *backfilledSeqs(from) {
      const last = await horizon(database);
      for (let next = from; ;) {
        const [row] = await askOne(
          database,
          sql`SELECT string_agg(seq::text, ',' ORDER BY seq) AS found FROM (SELECT seq FROM ${schema}.ids
            WHERE NOT pushed AND seq >= ${next} AND seq <= ${last} ORDER BY seq LIMIT ${pageRows}) AS page`,
        );
        const seqs = numbersIn(row);
        const end = seqs.at(-1);
        if (end === undefined) return;
        next = end + 1;
        yield seqs;
      }
    },
    async *prunedSince(since) {
      const last = await horizon(database);
      const leads = sql`string_agg(concat_ws(':', encode(id, 'hex'), seq, first_at), ',') FILTER (
        WHERE first_at >= ${Math.ceil(since)} AND seq <= ${last} AND NOT EXISTS (
          SELECT FROM ${schema}.deliveries AS d WHERE d.seq = page.seq))`;
      for await (const row of pages(database, leads)) {
        const joined = textOf(row['found']);
        yield (joined === '' ? [] : joined.split(',')).map((lead) => {
          const [id, seq, firstAt] = lead.split(':');
          return { leadId: storedText(id), seq: Number(seq), receivedAt: Number(firstAt) };
        });
      }
    },
  };
}

/** Of pages of all ids: `found` is made of each. */
async function* pages(database: OpenedSchema, found: Sql): AsyncGenerator<Row> {
  for (let after = sql`true`; ;) {
    const [row] = await askOne(
      database,
      sql`WITH page AS MATERIALIZED (SELECT id, seq, first_at FROM ${database.schema}.ids WHERE ${after}
        ORDER BY id LIMIT ${pageRows})
      SELECT ${found} AS found, count(*) AS rows, (SELECT encode(id, 'hex') FROM page ORDER BY id DESC LIMIT 1) AS last
      FROM page`,
    );
    if (row === undefined || numberOf(row['rows']) === 0) return;
    yield row;
    if (numberOf(row['rows']) < pageRows) return;
    after = sql`id > ${Buffer.from(textOf(row['last']), 'hex')}`;
  }
}

const keyOf = (leadId: string): string => hexOf(bytesOfText(leadId));

const numbersIn = (row: Row | undefined): number[] => {
  const joined = textOf(row?.['found']);
  return joined === '' ? [] : joined.split(',').map(Number);
};

/** Rows read at once, and their bytes, unless a single row has more. */
const leadRows = 200;
const leadBytesAtOnce = 4 * 1024 * 1024;

/** Of one statement: bodies may be large. */
const seqsAtOnce = 100;

const columns = sql`seq, encode(lead, 'hex') AS lead, received_at, source, encode(body, 'hex') AS body, lead_start,
  lead_end, first_seq`;

/** Every lead once, in order of arrival, of those that were there when the reading began. */
export async function* leads(
  database: OpenedSchema,
  { state, since, until }: StoredLeadQuery,
): AsyncGenerator<StoredLead> {
  const { schema } = database;
  const contents = new ContentReader(database);
  const last = await horizon(database);
  const isWanted =
    state === undefined
      ? sql`true`
      : sql`EXISTS (SELECT FROM ${schema}.forwards AS f WHERE f.lead = d.lead AND f.state = ${own(state)})`;
  const from = since === undefined ? sql`` : sql`AND received_at >= ${Math.ceil(since)}`;
  const to = until === undefined ? sql`` : sql`AND received_at < ${Math.ceil(until)}`;
  const page = (after: number): Sql => sql`
WITH chosen AS (SELECT * FROM ${schema}.deliveries AS d WHERE seq > ${after} AND seq <= ${last} ${from} ${to}
  AND attempt = 1 AND reason IS NULL
  AND EXISTS (SELECT FROM ${schema}.ids AS i WHERE i.id = d.lead AND i.seq = d.seq) AND ${isWanted}
  ORDER BY seq LIMIT ${leadRows}
), page AS (SELECT *, row_number() OVER oldest AS place, sum(octet_length(body)) OVER oldest AS bytes
  FROM chosen WINDOW oldest AS (ORDER BY seq)
)
SELECT ${columns} FROM page WHERE place = 1 OR bytes <= ${leadBytesAtOnce} ORDER BY seq`;
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
export async function leadsBySeq(database: OpenedSchema, seqs: readonly number[]): Promise<StoredLead[]> {
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
  const content = isNull(row['first_seq']) ? undefined : await contents.find(numberOf(row['first_seq']));
  return {
    leadId: storedText(row['lead']),
    seq: numberOf(row['seq']),
    receivedAt: numberOf(row['received_at']),
    source: row['source'] as Source,
    body: leadBytes(content?.body ?? bytesOf(row['body']), placeOf(row)),
  };
}
