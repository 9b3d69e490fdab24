import type { ScannedRecord } from '../../json/scanned-record.ts';
import { NumberedPager, positionAt, type Numbering } from './numbered.ts';
import { ask, complete, isSame, probe, endOf, switchTo } from './pager.ts';
import type { Evidence, PageAnswer, Pager, PageRequest, PagerAnswer, PagerStep } from './pager.ts';
import { start, type NumberPosition } from './position.ts';

/** A request for a part of the list. `begin`: how many places are before it; `limit`: undefined: that of the first page. */
interface Window {
  readonly position: NumberPosition;
  readonly limit: number | undefined;
  readonly begin: number;
}

/** Shorter pages do not overlap: most of each would be known, and a second reading costs no more. */
const fewestToOverlap = { page: 30, offset: 2 };

/**
 * The pager for what comes after the first page of a list that counts. Pages overlap where records have ids and a page is long enough.
 * Page numbers overlap at a cost (other sizes are requested): where a total shows that nothing moves, they do so only once it changes.
 */
export function pagesAfter(numbering: Numbering, first: PageAnswer, overlaps: boolean): Pager {
  const { facts, hints, tail } = first;
  const canOverlap = facts.count >= fewestToOverlap[numbering.style] && tail.at(-1)?.hasId === true;
  if (!overlaps || !canOverlap) return new NumberedPager(numbering, facts.count);
  const isCounted = hints.total !== undefined && hints.total >= facts.count;
  if (numbering.style === 'page' && isCounted)
    return new NumberedPager(numbering, facts.count, () => new OverlapPager(numbering));
  return new OverlapPager(numbering);
}

export function pagesFrom(position: NumberPosition, firstPage: number): Pager {
  const { style, param, size, window, number, length = 1 } = position;
  const base = position.base ?? (style === 'page' ? firstPage : 0);
  const numbering = { style, param, base };
  if (window !== undefined) return new OverlapPager(numbering).resumeAt(window, size);
  const isBaseUnseen = style === 'page' && base < 1;
  const counted = isBaseUnseen ? { ...numbering, base: base + 1, isBaseUnseen } : numbering;
  return new NumberedPager(counted, length).resumeAt((number - base) / length, size);
}

/**
 * Gives, of all sizes up to `largest`, the page that ends furthest, and begins at least `overlap` records before the `covered` places end. A
 * page begins at a multiple of its size, so that sizes differ in where they let it begin. Pages count from 0; `leastPage`: the smallest
 * number allowed.
 */
export function pageWindowAfter(covered: number, largest: number, overlap = 1, leastPage = 0) {
  const latest = Math.max(0, covered - overlap);
  let best = { page: 0, limit: largest, begin: 0 };
  let end = 0;
  for (let limit = largest; limit > 0; limit -= 1) {
    const page = Math.floor(latest / limit);
    if (page < leastPage || (page + 1) * limit <= end) continue;
    best = { page, limit, begin: page * limit };
    end = best.begin + limit;
  }
  return best;
}

/** The numbers of records by which a window overlaps the one before it: more where leads were seen to go. */
const overlapSizes = [1, 8, 32];

/** A record that moved farther between two requests, in places: the windows are not parts of one list. */
const farthestMove = 32;

const mostIdleWindows = 2;

/**
 * A window begins with the last record of the one before it, so that a list which moves shows it. A record that went
 * puts an unknown one there: the overlap grows. A record that was inserted puts one there that was before it: where the
 * start of the list does not explain all insertions, an unread lead may have moved up, and the list is read again.
 *
 * In the phase `windows`, the list is read to its end. If records were inserted, the phase `start` requests the start of the list, and
 * `last window` the end of the list once more, to see that nothing moved meanwhile.
 *
 * - `#window`: the window that was requested last; undefined while only the first page was
 * - `#joined`: the last page that continued the list; `#covered`: the number of places up to its end
 * - `#tail`: the last records of that page; `#tailBegin`: the place of the first of these
 * - `#isHonoured`: a window has continued the list, so that the service honours numbers and sizes
 * - `#isWidening`: the window overlaps more, because the one before it did not continue the list
 * - `#overlapStep`: the index in `overlapSizes`, beyond which half a page overlaps
 * - `#isUnclear`: leads moved in a way that windows cannot tell, and the list is read again at its end
 * - `#explained`: the insertions that the start of the list has shown; `#evidence`: the end that waits for them
 * - `#expectedId`: in a resumed walk, the id of the last record that was read before, until it comes
 */
class OverlapPager implements Pager {
  readonly movement = 'overlapped';
  readonly #numbering: Numbering;
  #phase: 'windows' | 'start' | 'last window' = 'windows';
  #first: PageAnswer | undefined;
  #window: Window | undefined;
  #limit: number | undefined;
  #tail: readonly ScannedRecord[] = [];
  #tailBegin = 0;
  #joined: PageAnswer | undefined;
  #covered = 0;
  #largest = 0;
  #isHonoured = false;
  #overlapStep = 0;
  #isWidening = false;
  #inserted = 0;
  #isUnclear = false;
  #isParallel = false;
  #idleWindows = 0;
  #explained = 0;
  #evidence: Evidence = 'nothing-behind';
  #expectedId: string | undefined;

  constructor(numbering: Numbering) {
    this.#numbering = numbering;
  }

  resumeAt(stored: NonNullable<NumberPosition['window']>, limit: number | undefined): this {
    this.#covered = stored.covered;
    this.#largest = stored.largest;
    this.#inserted = stored.inserted;
    this.#isHonoured = true;
    this.#limit = limit;
    this.#expectedId = stored.last;
    return this;
  }

  first(): PageRequest {
    return this.#expectedId === undefined ? ask(start, this.#limit) : this.#askNext();
  }

  restarted(): Pager {
    return new OverlapPager(this.#numbering);
  }

  accepts(_: PageRequest, first: ScannedRecord, isEarly: boolean): boolean {
    if (this.#phase !== 'windows' || this.#tail.length === 0) return true;
    const moved = this.#displacement(first);
    // The window will be requested once more, and what moved may have moved back until then.
    if (isEarly && moved !== 0) this.#isUnclear = true;
    if (isEarly || !this.#isHonoured) return moved === 0;
    return moved !== undefined && Math.abs(moved) <= Math.max(farthestMove, this.#largest / 2);
  }

  next(answer: PagerAnswer): PagerStep {
    if (answer.kind === 'rejected') {
      if (this.#phase !== 'windows') return this.#reread();
      return this.#isHonoured ? this.#widen() : this.#withoutOverlap();
    }
    if (this.#phase === 'start') return this.#afterStart(answer);
    if (this.#phase === 'last window') return this.#afterLastWindow(answer);
    if (this.#window === undefined) return this.#afterFirst(answer);
    return this.#expectedId === undefined ? this.#afterWindow(answer) : this.#afterResumption(answer);
  }

  ahead(_: PageRequest, many: number): PageRequest[] {
    const requests: PageRequest[] = [];
    if (!this.#isHonoured || this.#window === undefined || this.#phase !== 'windows') return requests;
    this.#isParallel = true;
    let { begin, limit } = this.#window;
    for (let i = 0; i < many; i += 1) {
      const window = this.#nextWindow(begin + (limit ?? this.#largest));
      if (window.begin <= begin) break;
      requests.push(this.#request(window));
      ({ begin, limit } = window);
    }
    return requests;
  }

  #overlap(): number {
    return overlapSizes[this.#overlapStep] ?? Math.max(1, Math.floor(this.#largest / 2));
  }

  #nextWindow(covered: number): Window {
    if (this.#numbering.style === 'offset') {
      const begin = Math.max(0, covered - this.#overlap());
      return { position: positionAt(this.#numbering, begin), limit: undefined, begin };
    }
    // The third page begins within the first one only for a service that honours the smaller size: that shows it.
    const leastPage = this.#isHonoured ? 0 : 2;
    const { page, ...window } = pageWindowAfter(covered, this.#largest, this.#overlap(), leastPage);
    return { position: positionAt(this.#numbering, page), ...window };
  }

  #request({ position, limit }: Window): PageRequest {
    const last = this.#tail[this.#covered - 1 - this.#tailBegin] ?? this.#tail.at(-1);
    const window = {
      covered: this.#covered,
      last: last?.id ?? '',
      largest: this.#largest,
      inserted: this.#inserted,
    };
    return ask({ ...position, window }, limit ?? this.#limit);
  }

  #askNext(): PageRequest {
    this.#window = this.#nextWindow(this.#covered);
    return this.#request(this.#window);
  }

  #afterFirst(answer: PageAnswer): PagerStep {
    const { count } = answer.facts;
    this.#first = answer;
    this.#limit = answer.request.limit;
    this.#covered = count;
    this.#largest = count;
    this.#join(answer, 0);
    if (count === 0) return complete('empty');
    const evidence = endOf(answer, count);
    return evidence === undefined ? this.#askNext() : complete(evidence);
  }

  #afterWindow(answer: PageAnswer): PagerStep {
    const { count } = answer.facts;
    const { begin = 0, limit } = this.#window ?? {};
    const [head] = answer.head;
    const moved = head === undefined || answer.isSkipped ? undefined : this.#displacement(head);
    if (!this.#isHonoured && (moved !== 0 || count > (limit ?? count))) return this.#withoutOverlap();
    if (moved === undefined) return this.#widen();
    this.#isHonoured = true;
    // A record had gone before this window: its first record has to be further up the list than it was.
    if (this.#isWidening && moved >= 0) this.#isUnclear = true;
    // Several changes between pages that were requested together may hide each other.
    if (this.#isParallel && (moved !== 0 || this.#isWidening)) this.#isUnclear = true;
    this.#isWidening = false;
    this.#inserted += Math.max(0, moved);
    const longest = this.#largest;
    this.#largest = Math.max(longest, count);
    this.#covered = begin + this.#knownCount(answer.head, begin - moved - this.#tailBegin) + answer.fresh;
    this.#join(answer, begin);
    const evidence = endOf(answer, begin + count, Math.min(longest, limit ?? longest));
    if (evidence !== undefined) return this.#finish(evidence);
    this.#idleWindows = answer.fresh === 0 ? this.#idleWindows + 1 : 0;
    const isFull = count >= Math.min(limit ?? this.#largest, this.#largest);
    if (answer.fresh > 0 || (isFull && this.#idleWindows <= mostIdleWindows)) return this.#askNext();
    return isFull ? this.#reread() : this.#finish('nothing-behind');
  }

  #afterResumption(answer: PageAnswer): PagerStep {
    const begin = this.#window?.begin ?? 0;
    const index = answer.head.findIndex(({ id }) => id === this.#expectedId);
    if (index < 0) return this.#widen();
    this.#expectedId = undefined;
    this.#isWidening = false;
    this.#inserted += Math.max(0, begin + index - (this.#covered - 1));
    this.#covered = begin + answer.facts.count;
    this.#join(answer, begin);
    const evidence = endOf(answer, this.#covered);
    if (evidence !== undefined) return this.#finish(evidence);
    return answer.facts.count === index + 1 ? this.#finish('nothing-behind') : this.#askNext();
  }

  /** By how many places the first record of the window has moved down since it was read; negative: up; undefined: it was not read. */
  #displacement(first: ScannedRecord): number | undefined {
    const expected = (this.#window?.begin ?? 0) - this.#tailBegin;
    if (isSame(this.#tail[expected], first)) return 0;
    const index = this.#tail.findLastIndex((record) => isSame(record, first));
    return index < 0 ? undefined : expected - index;
  }

  #knownCount(head: readonly ScannedRecord[], from: number): number {
    let count = 0;
    while (count < head.length && isSame(head[count], this.#tail[from + count])) count += 1;
    return count;
  }

  #join(answer: PageAnswer, begin: number): void {
    this.#joined = answer;
    this.#tail = answer.tail;
    this.#tailBegin = begin + answer.facts.count - answer.tail.length;
  }

  /** Requests the next window once more with a larger overlap, until it begins earlier than the last one. */
  #widen(): PagerStep {
    this.#isWidening = true;
    const { begin = 0 } = this.#window ?? {};
    if (this.#overlapStep >= overlapSizes.length) return this.#reread();
    do this.#overlapStep += 1;
    while (this.#overlapStep < overlapSizes.length && this.#nextWindow(this.#covered).begin >= begin);
    return this.#askNext();
  }

  #withoutOverlap(): PagerStep {
    if (this.#first === undefined) return this.#reread();
    const pager = new NumberedPager(this.#numbering, this.#first.facts.count);
    return switchTo(pager, pager.continueAfter(1, this.#first));
  }

  #finish(evidence: Evidence): PagerStep {
    if (this.#isUnclear) return this.#reread();
    if (this.#inserted === 0) return complete(evidence);
    this.#evidence = evidence;
    this.#phase = 'start';
    return probe(start, this.#limit);
  }

  /** The start of the list explains the insertions where the list continues after them with the record that it began with. */
  #afterStart({ leadingFresh, head }: PageAnswer): PagerStep {
    if (this.#joined === undefined || !isSame(head[leadingFresh], this.#first?.head[0]))
      return this.#reread();
    this.#explained = leadingFresh;
    this.#phase = 'last window';
    return { ...this.#joined.request, isProbe: true };
  }

  #afterLastWindow({ head }: PageAnswer): PagerStep {
    const isExplained = this.#explained === this.#inserted && isSame(head[0], this.#joined?.head[0]);
    return isExplained ? complete(this.#evidence) : this.#reread();
  }

  #reread(): PagerStep {
    return { kind: 'reread', pager: this.restarted() };
  }
}
