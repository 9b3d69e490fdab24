import { hasMemberId } from '../../erase/member-ids.ts';
import type { Connection } from '../connection/database-connections.ts';
import { bytesOf, numberOf } from '../sql/result-row.ts';
import { type Sql, sql } from '../sql/sql.ts';
import { textOfBytes } from '../sql/text-bytes.ts';
import type { StoredId } from './stored-id.ts';

/** Bodies that are read at once. */
const pageRows = 50;

/** How long that may take, in milliseconds. */
const pageMs = 600_000;

const backslash = Buffer.from('\\');

/**
 * The numbers of those bodies of several leads that hold one of the ids: its record may have been dropped while others of
 * the same body stayed. Only bodies in which an id stands as it is, or may be escaped, leave the database.
 */
export async function contentsWithIds(
  connection: Connection,
  schema: Sql,
  ids: readonly StoredId[],
): Promise<readonly number[]> {
  const found: number[] = [];
  if (ids.length === 0) return found;
  const wanted = new Set(ids.map(({ bytes }) => textOfBytes(bytes)));
  const texts = [backslash, ...ids.map(({ bytes }) => bytes)];
  for (let after = -1; ;) {
    const [rows = []] = await connection.run(
      sql`SELECT seq, encode(body, 'hex') AS body FROM ${schema}.contents WHERE seq > ${after}
        AND EXISTS (SELECT FROM unnest(${texts}::bytea[]) AS texts (part) WHERE position(part IN body) > 0)
      ORDER BY seq LIMIT ${pageRows}`,
      pageMs,
    );
    for (const { seq, body } of rows) if (hasMemberId(bytesOf(body), wanted)) found.push(numberOf(seq));
    if (rows.length < pageRows) return found;
    after = numberOf(rows.at(-1)?.['seq']);
  }
}
