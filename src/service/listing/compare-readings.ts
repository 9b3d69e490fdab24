import type { ScannedRecord } from '../../json/scanner.ts';
import type { IdSet } from '../../lead/id-set.ts';

/**
 * Compares one reading of a numbered list with the reading before it. Where all leads that the earlier one met are met
 * again, none of them had gone when a later page was read: as many as counted stood in front of it, and it passed over
 * none. That holds where no two pages show in one answer how they join, and whatever came and went meanwhile.
 */
export class ComparedReadings {
  readonly #seen: IdSet;
  /** The passes of `seen` with which this reading and the one before it began. */
  #start: number;
  #startBefore: number | undefined;
  /** Leads met in this reading and in the front that was read behind it. */
  #count = 0;
  #countBefore = 0;
  /** Of those, met in the reading before as well. */
  #again = 0;

  /** A resumed walk also answers for what the run before it has met. */
  constructor(seen: IdSet, isResumed: boolean) {
    this.#seen = seen;
    this.#start = isResumed ? 0 : seen.pass;
    this.#count = isResumed ? seen.size : 0;
  }

  /** The list is read from its front once more, as a new pass of `seen`. */
  begin(): void {
    this.#startBefore = this.#start;
    this.#countBefore = this.#count;
    this.#start = this.#seen.pass;
    this.#count = 0;
    this.#again = 0;
  }

  /** To be called before the records are added to `seen`. */
  note(records: readonly ScannedRecord[]): void {
    const ids = new Set<string>();
    for (const { id, hasId } of records) {
      if (!hasId || id === undefined || ids.has(id) || this.#seen.isMetSince(id, this.#start)) continue;
      ids.add(id);
      this.#count += 1;
      if (this.#startBefore !== undefined && this.#seen.isMetSince(id, this.#startBefore)) this.#again += 1;
    }
  }

  get meetsAllAgain(): boolean {
    return this.#startBefore !== undefined && this.#again === this.#countBefore;
  }
}
