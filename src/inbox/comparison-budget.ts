import type { KnownLead } from './decide-verdict.ts';
import { maxComparedBytes } from './store-limits.ts';

/** Limits the payloads that are compared field by field in one transaction. */
export class ComparisonBudget {
  #left = maxComparedBytes;

  /** A new transaction began. */
  reset(): void {
    this.#left = maxComparedBytes;
  }

  /** The first payload, when the other one may be compared with it. They are known to differ. */
  spend(first: Uint8Array | undefined, payload: Uint8Array): KnownLead['firstBody'] {
    if (first === undefined || first.length + payload.length > this.#left) return 'not compared';
    this.#left -= first.length + payload.length;
    return first;
  }
}
