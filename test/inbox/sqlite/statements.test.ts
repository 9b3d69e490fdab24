import Libsql from 'libsql';
import { expect, it } from 'vitest';
import { type Database, Statements } from '../../../src/inbox/sqlite/libsql.ts';
import { bytesOf, type Row, type Value } from '../../../src/inbox/sql/row.ts';
import { sql } from '../../../src/inbox/sql/statement.ts';

/** Whatever columns are the same in all rows, in some, or in none. */
const rowsOf = (count: number, pattern: number): (readonly Value[])[] =>
  Array.from({ length: count }, (_, i) => [
    i,
    pattern & 1 ? `text ${i}` : 'text',
    pattern & 2 ? null : i % 3,
    pattern & 4 ? new Uint8Array([i]) : null,
  ]);

it.each([1, 2, 3, 31, 32, 33, 100])('inserts %i rows as they are, in their order', (count) => {
  const database = new Libsql(':memory:') as unknown as Database;
  database.exec('CREATE TABLE things (n INTEGER, t TEXT, s INTEGER, b BLOB)');
  const statements = new Statements(database);
  for (let pattern = 0; pattern < 8; pattern += 1) {
    const rows = rowsOf(count, pattern);
    statements.run({ into: 'things', rows });
    const stored = statements.run(sql`SELECT n, t, s, b FROM @things ORDER BY rowid`);
    const plain = (value: Row[string] | undefined) => (value instanceof ArrayBuffer ? bytesOf(value) : value);
    expect(stored.map(({ n, t, s, b }) => [n, t, s, b].map(plain))).toEqual(rows);
    statements.run(sql`DELETE FROM @things`);
  }
  database.close();
});
