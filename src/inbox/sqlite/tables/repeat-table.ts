import { maxRepeatsKept } from '../../store-limits.ts';
import type { Database, Statement } from '../libsql.ts';

/** Repeats that are dropped at once, at most: an inbox of an earlier version may hold a great many. */
const maxDroppedAtOnce = 200;

/** Keeps the newest repeats of each lead, and counts the others. Ids are as `toColumn` gives them. */
export class RepeatTable {
  readonly #drop: Statement;
  readonly #count: Statement;

  constructor(database: Database) {
    this.#drop = database.prepare(
      `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries
       WHERE lead = ? AND attempt > 1 AND (differs IS NULL) = ?
       ORDER BY seq DESC LIMIT ${maxDroppedAtOnce} OFFSET ${maxRepeatsKept})`,
    );
    this.#count = database.prepare(
      `INSERT INTO dropped_repeats VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET differing = differing + excluded.differing, same = same + excluded.same`,
    );
  }

  /** After delivery number `attempt` of that id was added; `differs`: with another payload than the first one. */
  trim(id: string, attempt: number, differs: boolean): void {
    if (attempt <= maxRepeatsKept + 1) return;
    const { changes } = this.#drop.run([id, differs ? 0 : 1]);
    if (changes > 0) this.#count.run([id, differs ? changes : 0, differs ? 0 : changes]);
  }
}
