import type { Database, Statement } from '../libsql.ts';

/** Between two notes that a receiver still runs, at least, in milliseconds. */
const seenEveryMs = 3_600_000;

/**
 * The table `receivers`: which receivers run on this inbox now, and the targets of each, as `TargetNames` stores them. A
 * target that one of them wants is not settled for another address.
 */
export class ReceiverTable {
  readonly #owner: string;
  readonly #insert: Statement;
  readonly #remove: Statement;
  readonly #keepSeen: Statement;
  readonly #isWanted: Statement;
  #seen = 0;

  /** `owner`: the name of this receiver, as on its leases. */
  constructor(database: Database, owner: string) {
    this.#owner = owner;
    this.#insert = database.prepare('INSERT INTO receivers VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#remove = database.prepare('DELETE FROM receivers WHERE owner = ?');
    this.#keepSeen = database.prepare('UPDATE receivers SET seen = ? WHERE owner = ?');
    this.#isWanted = database.prepare('SELECT 1 FROM receivers WHERE target = ?');
  }

  /** This receiver runs, and hands each lead to these targets. */
  add(targets: readonly string[], now: number): void {
    for (const target of targets) this.#insert.run([this.#owner, target, now]);
  }

  /** This receiver still runs. Inside a transaction. */
  renew(now: number): void {
    if (now - this.#seen < seenEveryMs) return;
    this.#keepSeen.run([now, this.#owner]);
    this.#seen = now;
  }

  /** This receiver ends. */
  remove(): void {
    this.#remove.run([this.#owner]);
  }

  isWanted(target: string): boolean {
    return this.#isWanted.all([target]).length > 0;
  }
}
