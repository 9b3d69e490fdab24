import type { Connection } from '../connection/database-connections.ts';
import { isAnswered } from '../postgres-errors.ts';
import { textOf } from '../sql/result-row.ts';
import { bytesOfName, identifier, type Sql, sql } from '../sql/sql.ts';

/** How long it may take, in milliseconds. */
const vacuumMs = 600_000;

/**
 * Removes the dead rows of those partitions of `deliveries`, and of all other tables that an erasure deletes from. Returns
 * why that was not done; undefined when it was.
 */
export async function vacuumTables(
  connection: Connection,
  schema: Sql,
  deliveries: readonly string[],
): Promise<string | undefined> {
  const contents = deliveries.map((name) => name.replace(/^deliveries/, 'contents'));
  const wanted = [...deliveries, ...contents, 'outstanding', 'dropped_repeats'].map((name) => utf8(name));
  const [tables = []] = await connection.run(
    sql`SELECT relname, pg_catalog.pg_has_role(relowner, 'USAGE') AS is_mine FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND relkind = 'r'
      AND (convert_to(relname::text, 'UTF8') = ANY(${wanted}::bytea[]) OR relname LIKE 'ids_%')`,
  );
  const others = tables.filter(({ is_mine: isMine }) => isMine !== true);
  if (others.length > 0) return 'its dead rows go with VACUUM, which only the owner of the tables may run';
  try {
    for (const { relname } of tables) {
      await connection.run(sql`VACUUM ${schema}.${identifier(textOf(relname))}`, vacuumMs);
    }
    return undefined;
  } catch (error) {
    if (!isAnswered(error)) throw error;
    return 'VACUUM failed: its dead rows go when the database runs it by itself';
  }
}

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
