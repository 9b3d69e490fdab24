import type { Connections } from '../connection/database-connections.ts';
import type { Rows } from '../sql/result-row.ts';
import type { Sql } from '../sql/sql.ts';

/** How long a statement may take that reads, in milliseconds. */
const readMs = 60_000;

/** An opened schema, to read from. */
export interface ReadDatabase {
  readonly connections: Connections;
  readonly schema: Sql;
  /** Of the advisory locks of this inbox. */
  readonly lockKey: number;
  /** Of the names of targets, and of the ids of erased leads. */
  readonly targetKey: Uint8Array;
}

/** The rows of each statement. */
export const ask = ({ connections }: ReadDatabase, statements: Sql): Promise<readonly Rows[]> =>
  connections.use((connection) => connection.run(statements, readMs));

export async function askOne(database: ReadDatabase, statement: Sql): Promise<Rows> {
  const [rows = []] = await ask(database, statement);
  return rows;
}
