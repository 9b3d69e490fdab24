import { remainingBody, remainingHeaders, remainingPath } from '../../erase/remaining-delivery.ts';
import { headersIn, placeOf, storedText } from '../read/stored-columns.ts';
import { bytesOf, isNull, numberOf, type Row, type Rows, textOf } from '../sql/result-row.ts';
import { type Sql, sql, statements } from '../sql/sql.ts';
import { bytesOfText } from '../sql/text-bytes.ts';
import type { StoredId } from './stored-id.ts';

/** What was found, inside the transaction that deletes it. */
interface FoundRows {
  readonly ids: readonly StoredId[];
  /** Of `ids`. */
  readonly leads: Rows;
  /** Oldest first. */
  readonly deliveries: Rows;
  /** Contents that they shared, with each of the deliveries that stay. */
  readonly shared: Rows;
}

/** The statements that delete it, and note what stays of the ids. */
export function deletionOf(schema: Sql, { ids, leads, deliveries, shared }: FoundRows): Sql {
  const gone = deliveries.map(({ seq }) => numberOf(seq));
  const id = sql`${ids.map(({ bytes }) => bytes)}::bytea[]`;
  const kept = ids.flatMap(({ key, digest }) => {
    const lead = leads.find((row) => textOf(row['id']) === key);
    // Of an id that was only rejected, too, nothing is to be stored any more.
    const first = deliveries.find((row) => textOf(row['lead']) === key);
    const found = lead ?? (first && { ...first, first_at: first['received_at'], attempts: 0 });
    return found === undefined ? [] : [{ digest, row: found }];
  });
  return statements(
    sql`DELETE FROM ${schema}.deliveries WHERE seq = ANY(${gone}::int8[]);
    DELETE FROM ${schema}.outstanding WHERE lead = ANY(${id});
    DELETE FROM ${schema}.dropped_repeats WHERE lead = ANY(${id});
    DELETE FROM ${schema}.ids WHERE id = ANY(${id});`,
    ...[...contentsOf(shared)].map(([seq, rows]) => keepRest(schema, seq, rows)),
    kept.length === 0
      ? undefined
      : sql`INSERT INTO ${schema}.erased (digest, seq, first_at, attempts)
          SELECT digest, seq, first_at, attempts FROM unnest(${kept.map(({ digest }) => digest)},
            ${kept.map(({ row }) => numberOf(row['seq']))}, ${kept.map(({ row }) => numberOf(row['first_at']))},
            ${kept.map(({ row }) => numberOf(row['attempts']))}) AS new (digest, seq, first_at, attempts)
          ON CONFLICT DO NOTHING;`,
  );
}

/** By the number of the first of the leads that came together. */
function contentsOf(shared: Rows): ReadonlyMap<number, Rows> {
  const found = new Map<number, Row[]>();
  for (const row of shared) {
    const seq = numberOf(row['first_seq']);
    found.set(seq, [...(found.get(seq) ?? []), row]);
  }
  return found;
}

/** Of a delivery of several leads only those are left whose rows are; without any, it goes. */
function keepRest(schema: Sql, firstSeq: number, rows: Rows): Sql | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const receivedAt = numberOf(first['received_at']);
  const isHere = sql`seq = ${firstSeq} AND received_at = ${receivedAt}`;
  const rest = rows.filter(({ seq }) => !isNull(seq));
  if (rest.length === 0) return sql`DELETE FROM ${schema}.contents WHERE ${isHere};`;
  const body = remainingBody(
    bytesOf(first['body']),
    rest.flatMap((row) => placeOf(row) ?? []),
  );
  const headers = bytesOfText(JSON.stringify(remainingHeaders(headersIn(first['headers']))));
  const path = bytesOfText(remainingPath(storedText(first['path'])));
  return sql`UPDATE ${schema}.contents SET headers = ${headers}, body = ${body} WHERE ${isHere};
  UPDATE ${schema}.deliveries SET path = ${path} WHERE received_at = ${receivedAt}
    AND seq = ANY(${rest.map(({ seq }) => numberOf(seq))}::int8[]);`;
}
