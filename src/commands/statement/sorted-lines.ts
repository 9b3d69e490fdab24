import { tmpdir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { messageOf, OutputError } from '../../errors.ts';
import type { FileProblem } from '../../files/problems.ts';
import { type Database, loadLibsql, textOf } from '../../inbox/sqlite/libsql.ts';
import { lineText, type StatementLine } from '../../statement/statement-format.ts';

/** In a database without a name: SQLite removes its file as it makes it. Nothing in it has to be durable. */
const schema = `
  PRAGMA temp_store = FILE;
  ATTACH '' AS sorting;
  PRAGMA sorting.journal_mode = OFF;
  PRAGMA sorting.synchronous = OFF;
  BEGIN;
  CREATE TABLE sorting.added (line TEXT NOT NULL);
`;

/** All lines begin with the digest, in as many bytes: they are in its order. */
const sorted = `
  CREATE TABLE sorting.lines (line TEXT PRIMARY KEY) WITHOUT ROWID;
  INSERT INTO sorting.lines SELECT line FROM added GROUP BY substr(line, 1, 76) ORDER BY substr(line, 1, 76);
  DROP TABLE sorting.added;
`;

const rowsAtOnce = 2000;

/** Any number of a statement's lines in flat memory, to be read in the order of their digests. */
export class SortedLines {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
    database.exec(schema);
  }

  static async open(): Promise<SortedLines> {
    const Libsql = await loadLibsql();
    return new SortedLines(new Libsql(':memory:', { timeout: 0 }));
  }

  /** Throws an `OutputError` when the temporary file cannot be written. */
  add(lines: readonly StatementLine[]): void {
    const texts = JSON.stringify(lines.map(lineText));
    this.#write(() =>
      this.#database.prepare('INSERT INTO added SELECT value FROM json_each(?)').run([texts]),
    );
  }

  /** Of each digest one line stays. Resolves to how many there are. */
  sort(): number {
    this.#write(() => this.#database.exec(sorted));
    return Number(this.#database.prepare('SELECT COUNT(*) AS lines FROM lines').all([])[0]?.['lines']);
  }

  /** After `sort`, as often as is wanted. */
  async *texts(): AsyncGenerator<readonly string[]> {
    const page = this.#database.prepare(
      `SELECT json_group_array(line) AS lines FROM (
        SELECT line FROM lines WHERE line > ? ORDER BY line LIMIT ${rowsAtOnce})`,
    );
    for (let last = ''; ;) {
      const rows = JSON.parse(textOf(page.get([last])?.['lines'])) as string[];
      if (rows.length === 0) return;
      yield rows;
      last = rows.at(-1) ?? last;
      await setImmediate();
    }
  }

  close(): void {
    this.#database.close();
  }

  #write(step: () => unknown): void {
    try {
      step();
    } catch (cause) {
      const problem: FileProblem = { kind: 'leads-not-kept', directory: tmpdir(), why: messageOf(cause) };
      throw new OutputError(problem, { cause });
    }
  }
}
