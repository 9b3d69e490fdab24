import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { PlacesCovered } from '../pagination/pagination-hints.ts';

/**
 * Counts the places of the list that each page of a walk covers. Some services repeat leads of the page before in a page,
 * in front of the others or among them, and do not count them in an offset. Leads that arrived in front of the list push
 * known ones into a page, too: these stand there as they stood on the page before.
 */
export class PlacesOfPage {
  /** Ids of the last two records in their place, of the page before and of this one. */
  #before: readonly (string | undefined)[] = [];
  #last: readonly (string | undefined)[] = [];
  #after: string | undefined;
  #outOfPlace = 0;
  /** In front of the record that ended the page before. */
  #inFront = 0;
  /** What the service is known to add of these to each page. */
  #added = 0;
  #longest = 0;
  #isFirstPart = true;
  /** How many stood out of their place on this page and on the one before. */
  #repeated: readonly [number, number] = [0, 0];

  /** Records that each page repeats. */
  get usuallyRepeated(): number {
    return Math.min(...this.#repeated);
  }

  /** `after` is the record that ended the page before, where it was asked for once more. */
  begin(after: string | undefined): void {
    this.#after = after;
    this.#before = this.#last;
    this.#outOfPlace = 0;
    this.#isFirstPart = true;
  }

  /**
   * `repeats` are the indexes of records that this reading of the list has met before; `isBehind` is whether `after`
   * stands in front of these, as it must. Returns how many stand out of their place.
   */
  addPart(records: readonly ScannedRecord[], repeats: readonly number[], isBehind: boolean): number {
    const inPlace = this.#isFirstPart && !isBehind ? this.#asBefore(records, repeats) : 0;
    if (this.#isFirstPart) this.#inFront = Math.max(0, inPlace - 1);
    this.#isFirstPart = false;
    const outOfPlace = repeats.length - inPlace;
    this.#outOfPlace += outOfPlace;
    const known = new Set(repeats);
    const last: (string | undefined)[] = [];
    for (let at = records.length - 1; at >= 0 && last.length < 2; at -= 1)
      if (!known.has(at)) last.unshift(records[at]?.id);
    this.#last = [...this.#last, ...last].slice(-2);
    return outOfPlace;
  }

  /** Of a page of so many records, the last one with this id. */
  end(count: number, lastId: string | undefined): PlacesCovered {
    this.#repeated = [this.#outOfPlace, this.#repeated[0]];
    const places = count - this.#outOfPlace;
    // A page that is longer than those before was not pushed forward: the service adds so many to each.
    if (this.#longest > 0)
      this.#added = Math.max(this.#added, Math.min(this.#inFront, places - this.#longest));
    const covered = places - Math.min(this.#inFront, this.#added);
    this.#longest = Math.max(this.#longest, covered);
    return { count: covered, lastId: this.#outOfPlace === 0 ? lastId : this.#last.at(-1) };
  }

  /** How many of the repeated records at the beginning stand where they stood before. */
  #asBefore(records: readonly ScannedRecord[], repeats: readonly number[]): number {
    const leading = repeats.findIndex((at, i) => at !== i);
    const known = records.slice(0, leading < 0 ? repeats.length : leading);
    const [previous, last] = this.#before;
    const at = known.findIndex(({ id }) => id !== undefined && id === (this.#after ?? last));
    if (at === 0 || (at > 0 && known[at - 1]?.id === previous)) return at + 1;
    return at > 0 && this.#after !== undefined ? 1 : 0;
  }
}
