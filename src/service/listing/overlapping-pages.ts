import {
  countInUrl,
  countOfPosition,
  type Position,
  recordBefore,
  withNumber,
} from '../pagination/position.ts';
import { numberParams } from '../pagination/service-names.ts';

/** The newest page. */
interface PageRead {
  readonly position: Position;
  readonly count: number;
  /** The page size that was sent. */
  readonly size: number | undefined;
  readonly isFull: boolean;
  readonly bringsNew: boolean;
}

/** Records that went away in front leave an overlap, too; a service that counts in another way does so each time. */
const mostFailures = 3;

/**
 * Numbered pages that overlap, so that each shows by itself that it continues where the one before it ended, as an
 * overlapping offset does: page 2 of size 99 begins with the record that page 1 of size 100 ended with. It holds in
 * whatever order the list is and however it moves, because the records on both sides of a border stand in one answer.
 *
 * It is left where a service does not count pages in the size that is sent, and where pages that were not the last one
 * came short: hidden records take places there, and only a page as long as the others shows that none follow.
 */
export class OverlappingPages {
  /** The parameter for the page size. */
  readonly #limit: string | undefined;
  #state: 'untried' | 'honoured' | 'refused' = 'untried';
  /** Records on a full page, as the first one shows. */
  #cap = Infinity;
  #wasShort = false;
  #failures = 0;
  /** What is asked for where an overlapping page is refused. */
  #plain: { readonly of: Position; readonly position: Position } | undefined;

  constructor(limit: string | undefined) {
    this.#limit = limit;
  }

  get isUntried(): boolean {
    return this.#state === 'untried';
  }

  get isHonoured(): boolean {
    return this.#state === 'honoured';
  }

  get isRefused(): boolean {
    return this.#state === 'refused';
  }

  /** A walk goes on at such a page. */
  resume({ size = 0 }: Position): void {
    this.#state = 'honoured';
    this.#cap = size;
  }

  /** Pages further in front are read again. */
  goBack(): void {
    this.#wasShort = false;
  }

  /** The page that is asked for in place of `next`; `firstNumber` is the number of the first page. */
  place(next: Position, page: PageRead, firstNumber: number | undefined): Position {
    const number = countOfPosition(next);
    if (number?.kind !== 'page' || this.#state === 'refused') return next;
    const isStart = page.position.style === 'start';
    if (isStart) this.#cap = page.count;
    const length = Math.min(page.size ?? this.#cap, this.#cap);
    // A first page of an unusual length is a full one if the second page is as long.
    if (isStart && !page.isFull) return next;
    const isWhole = page.count === length;
    if ((this.#wasShort && page.bringsNew) || page.count > length) this.#state = 'refused';
    this.#wasShort = !isWhole;
    if (!isWhole || this.isRefused || recordBefore(next) === undefined) return next;
    const here = countOfPosition(page.position);
    const first = here === undefined ? number.value - 1 : firstNumber;
    if (first === undefined) return next;
    const end = isStart ? length : ((here?.value ?? first) - first + 1) * length;
    const overlapping = this.#overlapping(next, first, end, length);
    if (overlapping !== undefined) this.#plain = { of: overlapping, position: next };
    return overlapping ?? next;
  }

  /** The page behind one that was not read yet. */
  behind(position: Position, firstNumber: number): Position | undefined {
    const number = countOfPosition(position);
    const { size } = position;
    if (number === undefined || size === undefined) return undefined;
    return this.#overlapping(position, firstNumber, (number.value - firstNumber + 1) * size, size);
  }

  /**
   * Whether an overlapping page shows its border: it holds the record that the page before it ended with. The first one
   * has to stand exactly where the sizes say, and to bring more.
   */
  isHonouredBy(position: Position, ids: readonly (string | undefined)[]): boolean {
    const { overlap = 0, size = 0 } = position;
    const at = ids.indexOf(recordBefore(position));
    if (!this.isUntried) return at >= 0;
    const isHonoured = at === overlap - 1 && ids.length > overlap && ids.length <= size;
    if (isHonoured) this.#state = 'honoured';
    return isHonoured;
  }

  /** What is asked for in place of an overlapping page that does not show its border, or that the service rejects. */
  plainOf(position: Position): Position | undefined {
    if (this.#plain?.of !== position) return undefined;
    this.#failures += 1;
    if (this.isUntried || this.#failures > mostFailures) this.#state = 'refused';
    return this.#plain.position;
  }

  /** The page that brings the most of what stands behind `end`; undefined where a look at the border costs less. */
  #overlapping(next: Position, first: number, end: number, length: number): Position | undefined {
    let best: { readonly number: number; readonly size: number; readonly gain: number } | undefined;
    for (let size = Math.min(this.#cap, end - 1); size > 1 + (best?.gain ?? 0); size -= 1) {
      const pages = Math.floor((end - 1) / size);
      const gain = (pages + 1) * size - end;
      if (gain > (best?.gain ?? 0)) best = { number: first + pages, size, gain };
    }
    if (best === undefined || best.gain * 2 <= length) return undefined;
    const { number, size, gain } = best;
    const place = this.#withSize(withNumber(next, number, recordBefore(next)), size);
    return place && { ...place, size, overlap: size - gain };
  }

  #withSize(position: Position, size: number): Position | undefined {
    if (position.style !== 'url') return this.#limit === undefined ? undefined : position;
    const url = new URL(position.url);
    const name = numberParams.limit.inAddress.find((one) => url.searchParams.has(one));
    if (name === undefined || countInUrl(url) === undefined) return undefined;
    url.searchParams.set(name, String(size));
    return { ...position, url: url.href };
  }
}
