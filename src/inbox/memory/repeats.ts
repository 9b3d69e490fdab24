import type { DroppedRepeats } from '../inbox.ts';
import { maxRepeatsKept } from '../store-limits.ts';

/** The repeats of one lead: the newest are kept, the others counted. */
export class Repeats {
  readonly #differing: number[] = [];
  readonly #same: number[] = [];
  #droppedDiffering = 0;
  #droppedSame = 0;

  get dropped(): DroppedRepeats {
    return { differing: this.#droppedDiffering, same: this.#droppedSame };
  }

  /** Returns the number of the delivery that is to be dropped. `differs`: with another payload than the first one. */
  add(seq: number, differs: boolean): number | undefined {
    const kept = differs ? this.#differing : this.#same;
    kept.push(seq);
    if (kept.length <= maxRepeatsKept) return undefined;
    if (differs) this.#droppedDiffering += 1;
    else this.#droppedSame += 1;
    return kept.shift();
  }
}
