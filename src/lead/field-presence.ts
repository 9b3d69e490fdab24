import { isObject, type Json } from '../json/exact.ts';
import { fieldAt } from './field.ts';

const mostNames = 24;
const longestName = 60;
const maxDepth = 4;

/** Which of the fields that were asked for no lead has, and what the fields of the leads are called. */
export class FieldPresence {
  readonly #missing: Set<string>;
  readonly #names = new Set<string>();
  #looked = false;

  constructor(paths: readonly string[]) {
    this.#missing = new Set(paths);
  }

  /** False once every field was seen: then there is no need to look at further leads. */
  get searching(): boolean {
    return this.#missing.size > 0;
  }

  look(record: Json): void {
    if (!this.searching) return;
    this.#looked = true;
    for (const path of this.#missing) {
      if (fieldAt(record, path.split('.')) !== undefined) this.#missing.delete(path);
    }
    this.#learn(record, '', 1);
  }

  /** Fields that none of the leads has; none as long as there was no lead. */
  get missing(): readonly string[] {
    return this.#looked ? [...this.#missing] : [];
  }

  /** Dot paths of fields that the leads do have, in the order of first appearance, a bounded number of them. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  #learn(value: Json, prefix: string, depth: number): void {
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      if (this.#names.size >= mostNames) return;
      const path = prefix + key;
      if (isObject(member) && depth < maxDepth) this.#learn(member, `${path}.`, depth + 1);
      else if (path.length <= longestName) this.#names.add(path);
    }
  }
}
