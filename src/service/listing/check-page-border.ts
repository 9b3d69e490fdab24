import {
  countOfPosition,
  type Position,
  positionKey,
  recordBefore,
  withNumber,
} from '../pagination/position.ts';
import type { Peek } from './fetch-page.ts';

/** Records that a small request reads around the border of two pages. */
const widest = 10;

/** How a page stands to what was read before it. */
export type Border =
  | 'joined'
  /** Only known records stand around the border: leads arrived in front of it. */
  | 'known'
  /** Records that were not read stand there: others went away in front of it. */
  | 'gap';

/** What is known of the pages so far. */
export interface PageGeometry {
  /** Number of the first page. */
  readonly firstNumber: number;
  /** Records on every page so far; undefined where they differ. */
  readonly length: number | undefined;
  /** Records on the page in front. */
  readonly before: number;
  /** The page in front is shorter than others: it held all up to the end of the list. */
  readonly isShortBefore: boolean;
  /** The page size of the walk. */
  readonly size: number | undefined;
  /** Whether the page was requested before the one in front of it was read. */
  readonly isEarly: boolean;
}

/**
 * Checks that a numbered page continues where the one before it ended. A page number cannot overlap with the one
 * before, so one small request reads a few records around the border: the first record of the page has to stand
 * behind the last one before it, with nothing new between them. That holds whenever it is seen, since records do not
 * change their order.
 * Where the service ignores the small size, nothing shows the border by itself: the page before may be as it was because
 * as many leads arrived as had gone. Such borders are counted, and the list is read once more (`compare-readings.ts`).
 */
export class BorderCheck {
  readonly #isRead: (id: string) => boolean;
  readonly #peek: Peek;
  #isSmallSizeHonoured: boolean | undefined;
  /** Borders of this reading whose two sides did not stand in one answer: moves in both directions may have cancelled out. */
  unshown = 0;
  /** The reading before had such borders: this one is compared with it. */
  isCompared = false;

  /** `isRead` is whether the pass under way has met an id: another pass may have gaps in other places. */
  constructor(isRead: (id: string) => boolean, peek: Peek) {
    this.#isRead = isRead;
    this.#peek = peek;
  }

  /** Whether a page of another size than the walk's shows a border; undefined until one was requested. */
  get isSmallSizeHonoured(): boolean | undefined {
    return this.#isSmallSizeHonoured;
  }

  /** The list is read from its front once more. */
  beginReading(): void {
    this.isCompared = this.unshown > 0;
    this.unshown = 0;
  }

  /** `first` is the id of the page's first record; undefined for an empty page. */
  async look(position: Position, first: string | undefined, geometry: PageGeometry): Promise<Border> {
    const isLookedAt = this.#isSmallSizeHonoured !== false && !this.isCompared;
    const window = !isLookedAt ? undefined : windowAt(position, geometry);
    if (window !== undefined) {
      const found = await this.#peek(window.position, window.size);
      if (found.kind === 'page' && found.count <= window.size) {
        if (this.#joins(found.ids, recordBefore(position), first, window.size)) {
          // The same number leads there without the small size, too, where the last page of the list is short.
          if (positionKey(window.position) !== positionKey(position)) this.#isSmallSizeHonoured = true;
          return 'joined';
        }
        const before = found.ids.slice(0, Math.max(0, found.ids.indexOf(first)));
        const isUnreadBefore = before.some((id) => id !== undefined && !this.#isRead(id));
        // Known leads alone: some arrived, or pages are counted from another number. The page in front decides.
        const isGap = this.#isSmallSizeHonoured === true && this.#brokenBy(found.ids) === 'gap';
        const isNear = found.ids.includes(first) || found.ids.includes(recordBefore(position));
        if ((isGap && isNear) || isUnreadBefore) return this.#brokenBy(found.ids);
      }
    }
    // The list is read once more for such borders: a look at each would cost as much, and prove less.
    const isUnseen = first === undefined ? this.unshown > 0 : geometry.length !== undefined;
    if (window === undefined && isUnseen) {
      this.unshown += 1;
      return 'joined';
    }
    // The page in front tells what stood behind it only if it is the same before and after this one was read.
    if (geometry.isEarly) return 'gap';
    const number = countOfPosition(position);
    if (number === undefined) return 'joined';
    const before = await this.#peek(withNumber(position, number.value - 1, undefined), geometry.size);
    // It stands where it stood: leads arrived at the end of the list.
    const isLonger =
      before.kind === 'page' && before.ids.indexOf(recordBefore(position)) === geometry.before - 1;
    const holds =
      before.kind === 'page' && before.ids.at(-1) === recordBefore(position) && this.#areRead(before.ids);
    if (holds && window !== undefined) this.#isSmallSizeHonoured = false;
    // All that stands in front of this page has come again.
    const isAll = number.value - 1 === geometry.firstNumber && before.kind === 'page';
    const isEnd = first === undefined && geometry.isShortBefore;
    if (!isEnd && (!isAll || before.ids.length < geometry.before)) this.unshown += 1;
    if (holds) return 'joined';
    if (isLonger && before.ids.length > geometry.before && first === undefined) return 'known';
    return before.kind === 'page' && before.ids.at(-1) !== recordBefore(position)
      ? this.#brokenBy(before.ids)
      : 'gap';
  }

  /** Leads that arrived may be unknown, too, but they stand in front. */
  #brokenBy(ids: readonly (string | undefined)[]): Border {
    const last = ids.at(-1);
    return last !== undefined && this.#isRead(last) ? 'known' : 'gap';
  }

  /** Only known records may stand between the last one of the page before and the first one of this page. */
  #joins(
    ids: readonly (string | undefined)[],
    after: string | undefined,
    first: string | undefined,
    size: number,
  ): boolean {
    const from = ids.indexOf(after);
    // Behind an empty page's border nothing may stand.
    const to = first === undefined ? ids.length : ids.indexOf(first);
    if (from < 0 || to <= from || (first === undefined && ids.length === size)) return false;
    return this.#areRead(ids.slice(from, to));
  }

  #areRead(ids: readonly (string | undefined)[]): boolean {
    return ids.every((id) => id !== undefined && this.#isRead(id));
  }
}

/** The small page that holds the border best in its middle. */
function windowAt(
  position: Position,
  { firstNumber, length }: PageGeometry,
): { readonly position: Position; readonly size: number } | undefined {
  const number = countOfPosition(position);
  if (number?.kind !== 'page' || length === undefined) return undefined;
  const border = (number.value - firstNumber) * length;
  let size = 0;
  let room = 0;
  for (let width = 2; width <= Math.min(widest, length - 1); width += 1) {
    const sides = Math.min(border % width, width - (border % width));
    if (sides > room) [size, room] = [width, sides];
  }
  if (size === 0 || border < 1) return undefined;
  const page = Math.floor(border / size) + firstNumber;
  return { position: withNumber(position, page, undefined), size };
}
