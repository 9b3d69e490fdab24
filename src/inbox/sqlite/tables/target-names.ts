import { randomBytes } from 'node:crypto';
import { storedName, targetLabel } from '../../target-name.ts';
import { textOf } from '../column.ts';
import type { Database } from '../libsql.ts';

/**
 * The tables `target_key` and `targets`: a target is stored under a keyed digest of its name, since the name may hold
 * credentials, beside a label that holds none.
 */
export class TargetNames {
  readonly #key: Uint8Array;
  readonly #stored = new Map<string, string>();

  constructor(database: Database) {
    const key = database.prepare('SELECT key FROM target_key').get([])?.['key'];
    if (!(key instanceof Uint8Array)) throw new Error('the inbox has no key for the names of targets');
    this.#key = key;
  }

  /** The name under which a target is stored. */
  storedName(name: string): string {
    let stored = this.#stored.get(name);
    if (stored === undefined) {
      stored = storedName(this.#key, name).toString('base64url');
      this.#stored.set(name, stored);
    }
    return stored;
  }
}

export function storeLabels(database: Database, names: TargetNames, targets: readonly string[]): void {
  const insert = database.prepare('INSERT INTO targets VALUES (?, ?) ON CONFLICT DO NOTHING');
  for (const target of targets) insert.run([names.storedName(target), targetLabel(target)]);
}

/** Gives the rows of a version that stored names in clear text their keyed names. Inside a transaction. */
export function nameTargetsByKey(database: Database): void {
  const clear = database.prepare('SELECT DISTINCT target FROM work').all([]);
  database.prepare('INSERT INTO target_key VALUES (?, ?)').run([randomBytes(32), clear.length > 0 ? 1 : 0]);
  const names = new TargetNames(database);
  // Two names of one target become one row: the target has had the lead under either of them.
  const copy = database.prepare(
    `INSERT INTO work SELECT lead, ?, done, owner, lease FROM work WHERE target = ?
     ON CONFLICT DO UPDATE SET done = MAX(done, excluded.done)`,
  );
  const remove = database.prepare('DELETE FROM work WHERE target = ?');
  for (const row of clear) {
    const target = textOf(row['target']);
    storeLabels(database, names, [target]);
    copy.run([names.storedName(target), target]);
    remove.run([target]);
  }
}
