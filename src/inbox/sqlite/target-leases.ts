import { fromColumn, textOf } from './column.ts';
import type { Database, Statement } from './database.ts';
import type { Entry } from '../inbox.ts';

/**
 * What is to be done with each lead, by target, and who is at it. A claim runs out by itself, so that a receiver that
 * was killed leaves nothing behind that could not be done by another.
 */
export class TargetLeases {
  readonly #owner: string;
  readonly #wanted: readonly string[];
  readonly #leaseMs: number;
  readonly #find: Statement;
  readonly #claim: Statement;
  readonly #release: Statement;
  readonly #finish: Statement;
  readonly #accept: Statement;
  readonly #conclude: Statement;
  readonly #unsettled: Statement;

  /** `wanted`: everything that this receiver, which signs its claims as `owner`, was asked to do with each lead. */
  constructor(database: Database, wanted: readonly string[], owner: string, leaseMs: number) {
    this.#owner = owner;
    this.#wanted = wanted;
    this.#leaseMs = leaseMs;
    this.#find = database.prepare('SELECT done, owner, lease FROM work WHERE lead = ? AND target = ?');
    this.#claim = database.prepare(
      `INSERT INTO work VALUES (?, ?, 0, ?, ?)
       ON CONFLICT DO UPDATE SET owner = excluded.owner, lease = excluded.lease`,
    );
    this.#release = database.prepare(
      'UPDATE work SET lease = 0 WHERE lead = ? AND target = ? AND owner = ? AND done = 0',
    );
    this.#finish = database.prepare(
      `INSERT INTO work VALUES (?, ?, 1, ?, 0) ON CONFLICT DO UPDATE SET done = 1, lease = 0`,
    );
    this.#accept = database.prepare("UPDATE leads SET state = 'accepted' WHERE id = ? AND state = 'pending'");
    this.#conclude = database.prepare(
      "UPDATE deliveries SET verdict = ?, status = 200 WHERE seq = ? AND verdict = 'pending'",
    );
    this.#unsettled = database.prepare(
      'SELECT id, seq FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0',
    );
  }

  /** Claims what is undone and not claimed by another; `busy` when another receiver is at any of it. */
  claim(id: string, now: number): { targets: string[]; busy: boolean } {
    const free: string[] = [];
    for (const target of this.#wanted) {
      const row = this.#find.get([id, target]);
      if (row?.['done'] === 1) continue;
      if (row !== undefined && row['owner'] !== this.#owner && Number(row['lease']) > now) {
        return { targets: [], busy: true };
      }
      free.push(target);
    }
    for (const target of free) this.#claim.run([id, target, this.#owner, now + this.#leaseMs]);
    return { targets: free, busy: false };
  }

  release(id: string, target: string): void {
    this.#release.run([id, target, this.#owner]);
  }

  /** What the delivery is now: `pending` while something of what was wanted is left to do for this lead. */
  settle(id: string, seq: number, target: string): 'accepted' | 'duplicate' | 'pending' {
    this.#finish.run([id, target, this.#owner]);
    if (!this.#wanted.every((one) => this.#find.get([id, one])?.['done'] === 1)) return 'pending';
    const kind = this.accept(id) ? 'accepted' : 'duplicate';
    this.#conclude.run([kind, seq]);
    return kind;
  }

  /** False when the lead was accepted before. */
  accept(id: string): boolean {
    return this.#accept.run([id]).changes === 1;
  }

  unsettled(target: string): Entry[] {
    return this.#unsettled
      .all([target])
      .map((row) => ({ leadId: fromColumn(textOf(row['id'])), seq: Number(row['seq']) }));
  }
}
