import type { KnownLead } from '../../decide.ts';
import type { StoredRef } from '../../inbox.ts';
import { fromColumn, textOf } from '../column.ts';
import type { Database, Statement } from '../libsql.ts';

interface TargetLeasesOptions {
  /** Every target that this receiver hands each lead to. */
  readonly wanted: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
}

/**
 * The table `work`: which targets have had each lead, and which receiver hands it on now. A lease expires by itself, so
 * that another receiver can do what one that was killed had not done. Ids are as `toColumn` gives them.
 */
export class TargetLeases {
  readonly #options: TargetLeasesOptions;
  readonly #find: Statement;
  readonly #grant: Statement;
  readonly #release: Statement;
  readonly #settle: Statement;
  readonly #unsettledLeads: Statement;

  constructor(database: Database, options: TargetLeasesOptions) {
    this.#options = options;
    this.#find = database.prepare('SELECT done, owner, lease FROM work WHERE lead = ? AND target = ?');
    this.#grant = database.prepare(
      `INSERT INTO work VALUES (?, ?, 0, ?, ?)
       ON CONFLICT DO UPDATE SET owner = excluded.owner, lease = excluded.lease`,
    );
    this.#release = database.prepare(
      'UPDATE work SET lease = 0 WHERE lead = ? AND target = ? AND owner = ? AND done = 0',
    );
    this.#settle = database.prepare(
      `INSERT INTO work VALUES (?, ?, 1, ?, 0) ON CONFLICT DO UPDATE SET done = 1, lease = 0`,
    );
    this.#unsettledLeads = database.prepare(
      'SELECT id, seq FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0',
    );
  }

  /** Where the wanted targets of one lead stand. */
  stateOf(id: string, now: number): Pick<KnownLead, 'settled' | 'leasedElsewhere'> {
    const settled: string[] = [];
    const leasedElsewhere: string[] = [];
    for (const target of this.#options.wanted) {
      const row = this.#find.get([id, target]);
      if (row === undefined) continue;
      if (row['done'] === 1) settled.push(target);
      else if (row['owner'] !== this.#options.owner && Number(row['lease']) > now)
        leasedElsewhere.push(target);
    }
    return { settled, leasedElsewhere };
  }

  grant(id: string, targets: readonly string[], now: number): void {
    const { owner, leaseMs } = this.#options;
    for (const target of targets) this.#grant.run([id, target, owner, now + leaseMs]);
  }

  release(id: string, target: string): void {
    this.#release.run([id, target, this.#options.owner]);
  }

  /** Notes that the target has had the lead. Returns the wanted targets that have not. */
  settle(id: string, target: string): string[] {
    this.#settle.run([id, target, this.#options.owner]);
    return this.#options.wanted.filter((wanted) => this.#find.get([id, wanted])?.['done'] !== 1);
  }

  unsettledLeads(target: string): StoredRef[] {
    return this.#unsettledLeads
      .all([target])
      .map((row) => ({ leadId: fromColumn(textOf(row['id'])), seq: Number(row['seq']) }));
  }
}
