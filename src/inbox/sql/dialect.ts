import type { Value } from './row.ts';
import { type Query, raw, sql } from './statement.ts';

/**
 * All in which the SQL of SQLite and of PostgreSQL differ here. The members are texts or queries from which statements are put
 * together; a text that a function takes, such as `column`, is SQL of our own, never a value that was received.
 */
export interface Dialect {
  /** Types of columns: a text that sorts by its bytes, bytes, and a number that is the primary key. */
  readonly text: string;
  readonly bytes: string;
  readonly numberKey: string;
  /** After the columns of a table whose rows are found by the primary key alone: they are stored in its order. */
  readonly keyed: string;
  /** After the columns of a table whose rows change: each page keeps some room, so that a changed row fits beside its old version. */
  readonly changing: string;
  /** The name of the function that gives the larger one of two numbers. */
  readonly larger: string;
  /** Joins a short table to a long one, in which the row for each row of the short one is searched by an index. */
  readonly joinBySearch: Query;
  /** After the name of a table: the index that SQLite has to use, or that it may use none. PostgreSQL chooses by itself. */
  byIndex(name: string): Query;
  readonly withoutIndex: Query;
  /** Values as the rows of a table `asked` with the columns `key`, which counts from 0, and `value`, a text. */
  tableOf(values: readonly Value[]): Query;
  /**
   * Make one value of a column in all rows, or in those for which `where` holds: the text of a JSON array, or the bytes one after
   * another.
   */
  list(column: string, where?: Query): Query;
  joinedBytes(column: string): Query;
  /** A JSON array of some columns of one row; their names have commas between. */
  array(columns: string): string;
  readonly noBytes: string;
  hex(column: string): Query;
  unhex(column: string): Query;
  boolean(value: boolean): Query;
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
  joinBySearch: raw('CROSS JOIN'),
  byIndex: (name) => raw(` INDEXED BY ${name}`),
  withoutIndex: raw(' NOT INDEXED'),
  tableOf: (values) => sql`(SELECT key, value FROM json_each(${JSON.stringify(values)})) AS asked`,
  list: (column, where) => sql`${raw(`json_group_array(${column})`)}${filtered(where)}`,
  array: (columns) => `json_array(${columns})`,
  noBytes: "x''",
  joinedBytes: (column) => raw(`CAST(group_concat(${column}, '') AS BLOB)`),
  hex: (column) => raw(`lower(hex(${column}))`),
  unhex: (column) => raw(`unhex(${column})`),
  boolean: (value) => raw(value ? '1' : '0'),
};

export const postgresDialect: Dialect = {
  text: 'text COLLATE "C"',
  bytes: 'bytea',
  numberKey: 'bigint PRIMARY KEY',
  keyed: '',
  changing: ' WITH (fillfactor = 80)',
  larger: 'greatest',
  joinBySearch: raw('JOIN'),
  byIndex: () => raw(''),
  withoutIndex: raw(''),
  tableOf: (values) =>
    sql`(SELECT value, ordinality - 1 AS key FROM json_array_elements_text(CAST(${JSON.stringify(values)} AS json)) WITH ORDINALITY AS e (value)) AS asked`,
  list: (column, where) => sql`CAST(${raw(`json_agg(${column})`)}${filtered(where)} AS text)`,
  array: (columns) => `json_build_array(${columns})`,
  noBytes: "''::bytea",
  joinedBytes: (column) => raw(`string_agg(${column}, ''::bytea)`),
  hex: (column) => raw(`encode(${column}, 'hex')`),
  unhex: (column) => raw(`decode(${column}, 'hex')`),
  boolean: (value) => raw(String(value)),
};
