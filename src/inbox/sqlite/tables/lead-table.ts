import type { Database, Statement } from '../libsql.ts';

export interface LeadRow {
  /** Number of its first delivery. */
  readonly seq: number;
  readonly accepted: boolean;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  /** SHA-256 of the first payload. */
  readonly digest: Uint8Array;
}

/** The table `leads`: one row for each id that was ever taken, kept for ever. Ids are as `toColumn` gives them. */
export class LeadTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #countAttempt: Statement;
  readonly #accept: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare('INSERT INTO leads VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO NOTHING');
    this.#find = database.prepare('SELECT seq, state, first_at, attempts, digest FROM leads WHERE id = ?');
    this.#countAttempt = database.prepare('UPDATE leads SET attempts = attempts + 1 WHERE id = ?');
    this.#accept = database.prepare("UPDATE leads SET state = 'accepted' WHERE id = ? AND state = 'pending'");
  }

  /** False when the id is there already. */
  insert(id: string, { seq, accepted, firstAt, digest }: LeadRow): boolean {
    const state = accepted ? 'accepted' : 'pending';
    return this.#insert.run([id, seq, state, firstAt, digest]).changes === 1;
  }

  find(id: string): (LeadRow & { readonly attempts: number }) | undefined {
    const row = this.#find.get([id]);
    return row === undefined
      ? undefined
      : {
          seq: Number(row['seq']),
          accepted: row['state'] === 'accepted',
          firstAt: Number(row['first_at']),
          attempts: Number(row['attempts']),
          digest: row['digest'] as Uint8Array,
        };
  }

  countAttempt(id: string): void {
    this.#countAttempt.run([id]);
  }

  /** False when the lead was accepted before. */
  accept(id: string): boolean {
    return this.#accept.run([id]).changes === 1;
  }
}
