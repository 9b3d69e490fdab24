import type { HandedResult } from '../../inbox.ts';
import { maxResultsKept } from '../../store-limits.ts';
import type { Database, Statement } from '../libsql.ts';

/** The table `results`: what came of handing a delivery's lead to targets, numbered from 1; dropped with the delivery. */
export class ResultTable {
  readonly #last: Statement;
  readonly #insert: Statement;
  readonly #trim: Statement;

  constructor(database: Database) {
    this.#last = database.prepare('SELECT MAX(number) AS last FROM results WHERE seq = ?');
    this.#insert = database.prepare('INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#trim = database.prepare('DELETE FROM results WHERE seq = ? AND number <= ?');
  }

  /** `target` as `TargetNames` stores it. */
  add(seq: number, target: string, { ok, answer, at, durationMs }: HandedResult): void {
    const number = Number(this.#last.get([seq])?.['last'] ?? 0) + 1;
    this.#insert.run([seq, number, target, ok ? 1 : 0, answer, at, durationMs]);
    if (number > maxResultsKept) this.#trim.run([seq, number - maxResultsKept]);
  }
}
