import type { TotalsSoFar } from '../pagination/position.ts';
import type { PageTally } from './passes.ts';

/** A count of leads that no total equals, however many are added. */
const lost = Number.MIN_SAFE_INTEGER;

/** What the pages of one pass over the list say of its total, held against the different leads that were met. */
export class Totals {
  /** Different leads met in this pass; undefined when it began in the middle, or was read again in part. */
  met: number | undefined;
  /** Records that the first page held twice: some totals count them. */
  repeated = 0;
  #first: number | undefined;
  #last: number | undefined;
  #fell = false;
  /** When the first page came, by the service's clock: milliseconds since the epoch. */
  #began: number | undefined;
  #hasArrivals = false;
  /** Leads that the run before had met were counted by it. */
  readonly #isResumed: boolean;

  constructor(soFar?: TotalsSoFar, met: number | undefined = 0) {
    this.met = soFar?.met ?? met;
    this.#isResumed = soFar !== undefined;
    this.#first = soFar?.first;
    this.#last = soFar?.last;
    this.#began = soFar?.began;
  }

  note(total: number | undefined): void {
    if (total === undefined) return;
    if (this.#last !== undefined && total < this.#last) this.#fell = true;
    this.#first ??= total;
    this.#last = total;
  }

  /** Counts the different leads of a page. */
  count({ fresh, earlier, withoutId }: PageTally): void {
    if (this.met !== undefined) this.met += fresh + withoutId - (this.#isResumed ? earlier : 0);
  }

  /**
   * Notes when a page was answered, in milliseconds since the epoch, and when its last lead was created, if it says so:
   * where one arrived behind the pages that were read, another may have gone without a change of the total.
   */
  noteTimes(answeredAt: number, createdAt: number | undefined): void {
    this.#began ??= answeredAt;
    if (createdAt !== undefined && createdAt > this.#began) this.#hasArrivals = true;
  }

  get last(): number | undefined {
    return this.#last;
  }

  /** Leads that were there all the time, as the totals say: later ones in front are a later walk's. */
  get expected(): number | undefined {
    return this.#first === undefined || this.#last === undefined
      ? undefined
      : Math.min(this.#first, this.#last);
  }

  /** The total became 0 although leads were met: one of both is wrong. */
  get vanished(): boolean {
    return this.#last === 0 && (this.#first ?? 0) > 0;
  }

  /**
   * The cheap proof that nothing moved over the border of a page: the total never fell, was met exactly, and no lead
   * arrived that could fill the place of one that was passed over.
   */
  get isSettled(): boolean {
    const { met } = this;
    if (met === undefined || this.#fell || this.#hasArrivals) return false;
    return [met, met + this.repeated].some((count) => count === this.#first || count === this.#last);
  }

  /** Settled, and the total was the same all the time: where it grew, a lead may have moved to the front unread. */
  get isUnchanged(): boolean {
    return this.isSettled && this.#first === this.#last;
  }

  /**
   * For a position that a later walk goes on from. With `isNumbered`, one whose count is lost says so: the borders that
   * were left to the totals are then to be checked by that walk.
   */
  soFar(isNumbered: boolean): TotalsSoFar | undefined {
    const { met } = this;
    if (this.#first === undefined || this.#last === undefined) return undefined;
    const isLost = met === undefined || this.#fell || this.#hasArrivals;
    if (isLost && !isNumbered) return undefined;
    return { met: isLost ? lost : met, first: this.#first, last: this.#last, began: this.#began };
  }
}
