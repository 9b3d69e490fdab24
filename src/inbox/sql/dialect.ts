import type { Value } from './row.ts';
import { type Query, raw, sql } from './statement.ts';

/** All in which the SQL of SQLite and of PostgreSQL differ here. What takes an expression gets a text of our own. */
export interface Dialect {
  /** Types of columns: a text that sorts by its bytes, bytes, and a key that is a number. */
  readonly text: string;
  readonly bytes: string;
  readonly numberKey: string;
  /** Behind the columns of a table that is found by its key alone. */
  readonly keyed: string;
  /** Behind those of a table whose rows change: PostgreSQL writes a changed row beside the old one where its page has room. */
  readonly changing: string;
  readonly larger: string;
  readonly smaller: string;
  /** Between two tables, of which the first is gone through and the second searched. */
  readonly searched: Query;
  /** Behind the name of a table: the index by which it is searched. */
  byIndex(name: string): Query;
  readonly withoutIndex: Query;
  /** Values as a table `asked` with the columns `key`, from 0, and `value`, a text. */
  each(values: readonly Value[]): Query;
  /** Joins all values of a column with commas; null if there is no row. `where`: those of such rows alone. */
  joined(column: string, where?: Query): Query;
  /** The JSON text of an array of all values of a column, and a JSON array of the columns of one row. */
  list(column: string, where?: Query): Query;
  array(columns: string): string;
  readonly noBytes: string;
  joinedBytes(column: string): Query;
  hex(column: string): Query;
  unhex(column: string): Query;
  truth(is: boolean): Query;
}

const filtered = (where: Query | undefined): Query =>
  where === undefined ? raw('') : sql` FILTER (WHERE ${where})`;

export const sqliteDialect: Dialect = {
  text: 'TEXT',
  bytes: 'BLOB',
  numberKey: 'INTEGER PRIMARY KEY',
  keyed: ' WITHOUT ROWID',
  changing: '',
  larger: 'MAX',
  smaller: 'MIN',
  searched: raw('CROSS JOIN'),
  byIndex: (name) => raw(` INDEXED BY ${name}`),
  withoutIndex: raw(' NOT INDEXED'),
  each: (values) => sql`(SELECT key, value FROM json_each(${JSON.stringify(values)})) AS asked`,
  joined: (column, where) => sql`${raw(`group_concat(${column})`)}${filtered(where)}`,
  list: (column, where) => sql`${raw(`json_group_array(${column})`)}${filtered(where)}`,
  array: (columns) => `json_array(${columns})`,
  noBytes: "x''",
  joinedBytes: (column) => raw(`CAST(group_concat(${column}, '') AS BLOB)`),
  hex: (column) => raw(`lower(hex(${column}))`),
  unhex: (column) => raw(`unhex(${column})`),
  truth: (is) => raw(is ? '1' : '0'),
};

export const postgresDialect: Dialect = {
  text: 'text COLLATE "C"',
  bytes: 'bytea',
  numberKey: 'bigint PRIMARY KEY',
  keyed: '',
  changing: ' WITH (fillfactor = 80)',
  larger: 'greatest',
  smaller: 'least',
  searched: raw('JOIN'),
  byIndex: () => raw(''),
  withoutIndex: raw(''),
  each: (values) =>
    sql`(SELECT value, ordinality - 1 AS key FROM json_array_elements_text(CAST(${JSON.stringify(values)} AS json)) WITH ORDINALITY AS e (value)) AS asked`,
  joined: (column, where) => sql`${raw(`string_agg(CAST(${column} AS text), ',')`)}${filtered(where)}`,
  list: (column, where) => sql`CAST(${raw(`json_agg(${column})`)}${filtered(where)} AS text)`,
  array: (columns) => `json_build_array(${columns})`,
  noBytes: "''::bytea",
  joinedBytes: (column) => raw(`string_agg(${column}, ''::bytea)`),
  hex: (column) => raw(`encode(${column}, 'hex')`),
  unhex: (column) => raw(`decode(${column}, 'hex')`),
  truth: (is) => raw(is ? 'true' : 'false'),
};
