import type { KnownLead } from '../../decide-verdict.ts';
import type { LeaseState, StoredRef } from '../../inbox.ts';
import { fromColumn, textOf } from '../column.ts';
import type { Database, Row, Statement } from '../libsql.ts';
import type { ReceiverTable } from './receiver-table.ts';
import type { TargetNames } from './target-names.ts';

interface TargetLeasesOptions {
  /** Every target that this receiver hands each lead to. */
  readonly wanted: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
  /** The names under which targets are stored. */
  readonly names: TargetNames;
  readonly receivers: Pick<ReceiverTable, 'isWanted'>;
}

/** Leads that are read at once: there may be millions, and the database is read on the event loop. */
export const unsettledPage = 1000;

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
  readonly #otherForwards: Statement;

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
      `SELECT id, seq FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0 AND lead > ?
       ORDER BY lead LIMIT ${unsettledPage}`,
    );
    this.#otherForwards = database.prepare(
      `SELECT target, label, owner, lease FROM work JOIN targets ON name = target
       WHERE lead = ? AND target <> ? AND done = 0 AND label LIKE 'forward %'`,
    );
  }

  /** Where the wanted targets of one lead stand. */
  stateOf(id: string, now: number): Pick<KnownLead, 'settled' | 'leasedElsewhere'> {
    const settled: string[] = [];
    const leasedElsewhere: string[] = [];
    for (const target of this.#options.wanted) {
      const row = this.#rowOf(id, target);
      if (row === undefined) continue;
      if (row['done'] === 1) settled.push(target);
      else if (this.#isLeasedElsewhere(row, now)) leasedElsewhere.push(target);
    }
    return { settled, leasedElsewhere };
  }

  grant(id: string, targets: readonly string[], now: number): void {
    const { owner, leaseMs } = this.#options;
    for (const target of targets) this.#grant.run([id, this.#stored(target), owner, now + leaseMs]);
  }

  release(id: string, target: string): void {
    this.#release.run([id, this.#stored(target), this.#options.owner]);
  }

  /** Notes that the target has had the lead. Returns the wanted targets that have not. */
  settle(id: string, target: string): string[] {
    this.#settle.run([id, this.#stored(target), this.#options.owner]);
    return this.#options.wanted.filter((wanted) => this.#rowOf(id, wanted)?.['done'] !== 1);
  }

  /**
   * Notes that the target has had the lead, and settles the only other forward that is outstanding for it, unless a
   * receiver that runs wants that one. Returns its label; undefined where there is none, or several.
   */
  settleMoved(id: string, target: string, now: number): string | undefined {
    const { owner, receivers } = this.#options;
    this.#settle.run([id, this.#stored(target), owner]);
    const [forward, ...more] = this.#otherForwards.all([id, this.#stored(target)]);
    if (forward === undefined || more.length > 0 || this.#isLeasedElsewhere(forward, now)) return undefined;
    if (receivers.isWanted(textOf(forward['target']))) return undefined;
    this.#settle.run([id, textOf(forward['target']), owner]);
    return textOf(forward['label']);
  }

  /** Leases what is outstanding for the target, unless another receiver holds a lease on it. */
  lease(id: string, target: string, now: number): LeaseState {
    const row = this.#rowOf(id, target);
    if (row?.['done'] === 1) return 'settled';
    if (row === undefined) return 'not outstanding';
    if (this.#isLeasedElsewhere(row, now)) return 'busy';
    this.grant(id, [target], now);
    return 'leased';
  }

  /** At most `unsettledPage` of them, those behind an id, in the order of ids. */
  unsettledLeads(target: string, after: string): StoredRef[] {
    return this.#unsettledLeads
      .all([this.#stored(target), after])
      .map((row) => ({ leadId: fromColumn(textOf(row['id'])), seq: Number(row['seq']) }));
  }

  #stored(target: string): string {
    return this.#options.names.storedName(target);
  }

  #rowOf(id: string, target: string): Row | undefined {
    return this.#find.get([id, this.#stored(target)]);
  }

  #isLeasedElsewhere(row: Row, now: number): boolean {
    return row['owner'] !== this.#options.owner && Number(row['lease']) > now;
  }
}
