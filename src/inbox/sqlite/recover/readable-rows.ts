import type { Database, Row, Value } from '../libsql.ts';
import { isDamage } from '../sqlite-errors.ts';

/** Rows read at once. */
const pageRows = 200;

type Use = (rows: readonly Row[]) => void;

/** The rows, or `damaged`. Each statement is made anew, since one that has thrown cannot be used again. */
export function rowsOrDamage(database: Database, sql: string, values: readonly Value[]): Row[] | 'damaged' {
  try {
    return database.prepare(sql).all(values);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return 'damaged';
  }
}

/**
 * Gives the rows of a table that can be read from its first key on, and then those from its last key back, some of them
 * twice. Returns whether that was all of them; in between, what is damaged and what lies between two damaged parts is
 * left out.
 */
export function readFromBothEnds(
  database: Database,
  table: string,
  keys: readonly string[],
  use: Use,
): boolean {
  return readFrom('ASC', database, table, keys, use) || (readFrom('DESC', database, table, keys, use), false);
}

function readFrom(
  order: 'ASC' | 'DESC',
  database: Database,
  table: string,
  keys: readonly string[],
  use: Use,
): boolean {
  const tuple = `(${keys.join(', ')})`;
  const behind = `${tuple} ${order === 'ASC' ? '>' : '<'} (${keys.map(() => '?').join(', ')})`;
  const ordered = keys.map((key) => `${key} ${order}`).join(', ');
  let last: readonly Value[] | undefined;
  for (let limit = pageRows; ;) {
    const where = last === undefined ? '' : `WHERE ${behind}`;
    const sql = `SELECT * FROM ${table} ${where} ORDER BY ${ordered} LIMIT ${limit}`;
    const rows = rowsOrDamage(database, sql, last ?? []);
    if (rows === 'damaged') {
      if (limit === 1) return false;
      limit = 1;
      continue;
    }
    use(rows);
    const end = rows.at(-1);
    if (end === undefined || rows.length < limit) return true;
    last = keys.map((key) => end[key] ?? null);
  }
}
