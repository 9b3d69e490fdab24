import { storedName, targetLabel } from '../target-name.ts';
import { type Sql, sql } from './sql/sql.ts';
import { bytesOfText } from './sql/text-bytes.ts';

/** A target under its stored name, a keyed digest: the name itself may hold credentials. */
export class TargetNames {
  readonly #key: Uint8Array;
  readonly #stored = new Map<string, Uint8Array>();

  /** `key`: of this inbox. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  storedName(name: string): Uint8Array {
    let stored = this.#stored.get(name);
    if (stored === undefined) {
      stored = storedName(this.#key, name);
      this.#stored.set(name, stored);
    }
    return stored;
  }
}

/** Keeps a label for each name, which holds no credentials. */
export const storeLabels = (schema: Sql, names: TargetNames, targets: readonly string[]): Sql =>
  sql`INSERT INTO ${schema}.targets (name, label) SELECT * FROM unnest(
    ${targets.map((target) => names.storedName(target))}::bytea[],
    ${targets.map((target) => bytesOfText(targetLabel(target)))}::bytea[]) ON CONFLICT DO NOTHING;`;
