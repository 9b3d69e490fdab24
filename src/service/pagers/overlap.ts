import type { ScannedRecord } from '../../json/scanner.ts';
import { ask, complete, isSame, probe, endOf } from './pager.ts';
import type { Answer, Evidence, PageAnswer, Pager, PageRequest, Rejection, Step } from './pager.ts';
import { start, type Position } from './position.ts';

/** Where windows may begin: at any record, or where a page of some size does. */
export interface Ruler {
  /** The window that begins at least `overlap` records before the end of what was read. */
  windowAfter(read: Covered, overlap: number): Place;
  /** The pager that goes on where this way of counting is not honoured; the first page was read. */
  otherwise(first: PageAnswer, answer: Answer): Step;
}

/** How far the list was read. `isProven`: a window has shown that the service honours them exactly. */
export interface Covered {
  readonly places: number;
  readonly largest: number;
  readonly isProven: boolean;
}

export interface Place {
  readonly position: Extract<Position, { readonly style: 'page' | 'offset' }>;
  /** Undefined: as the first page. */
  readonly limit: number | undefined;
  /** Records of the list before it. */
  readonly begin: number;
}

/** Records by which a window overlaps the one before it: more where leads were seen to go. */
const overlaps = [1, 8, 32];

/**
 * Each window begins with the last record of the one before it, so that a list which moves shows it. A record that went
 * puts an unknown one there: the overlap grows. A record that was inserted puts one there that stood further up: where the
 * start of the list does not explain all insertions, an unread lead may have moved up, and the list is read again.
 */
export class OverlapPager implements Pager {
  readonly movement = 'overlapped';
  readonly #ruler: Ruler;
  readonly #makeAgain: () => Pager;
  #phase: 'walk' | 'front' | 'last' = 'walk';
  #first: PageAnswer | undefined;
  /** The page size that it was asked with. */
  #limit: number | undefined;
  /** The records of the last window that was joined, and where it begins. */
  #tail: readonly ScannedRecord[] = [];
  #tailBegin = 0;
  #lastWindow: PageRequest | undefined;
  #lastHead: ScannedRecord | undefined;
  #places = 0;
  #largest = 0;
  #isProven = false;
  #place: Place | undefined;
  #widened = 0;
  #isWidening = false;
  #inserted = 0;
  #isUnclear = false;
  #isParallel = false;
  #idle = 0;
  #explained = 0;
  #total: number | undefined;
  #met = 0;
  #isCountStable = true;
  #evidence: Evidence = 'nothing-behind';
  #resumed: { readonly id: string; readonly request: PageRequest } | undefined;

  constructor(ruler: Ruler, makeAgain: () => Pager) {
    this.#ruler = ruler;
    this.#makeAgain = makeAgain;
  }

  /** Goes on at a position that a checkpoint has stored. */
  resumeAt(position: Place['position'], limit: number | undefined): this {
    const { window } = position;
    if (window === undefined) return this;
    this.#places = window.covered;
    this.#largest = window.largest;
    this.#inserted = window.inserted;
    this.#isProven = true;
    this.#isCountStable = false;
    this.#limit = limit;
    this.#place = this.#ruler.windowAfter(this.#read(), 1);
    this.#resumed = { id: window.last, request: this.#request(this.#place) };
    return this;
  }

  first(): PageRequest {
    return this.#resumed?.request ?? ask(start, this.#limit);
  }

  again(): Pager {
    return this.#makeAgain();
  }

  takes(_: PageRequest, first: ScannedRecord, isEarly: boolean): boolean {
    if (this.#phase !== 'walk' || this.#place === undefined || this.#tail.length === 0) return true;
    const moved = this.#displacement(first);
    // It is asked for again, and what moved may have moved back meanwhile.
    if (isEarly && moved !== 0) this.#isUnclear = true;
    if (isEarly || !this.#isProven) return moved === 0;
    return moved !== undefined && Math.abs(moved) <= Math.max(32, this.#largest / 2);
  }

  next(answer: Answer): Step {
    if (answer.kind === 'rejected') return this.#afterRejection(answer);
    this.#count(answer);
    if (this.#phase === 'front') return this.#afterFront(answer);
    if (this.#phase === 'last') return this.#afterLast(answer);
    if (this.#place === undefined) return this.#afterStart(answer);
    return this.#resumed === undefined ? this.#afterWindow(answer) : this.#afterResumption(answer);
  }

  /** Windows that come next if each one is full, and as long as the longest. */
  ahead(_: PageRequest, many: number): PageRequest[] {
    const requests: PageRequest[] = [];
    if (!this.#isProven || this.#place === undefined || this.#phase !== 'walk') return requests;
    this.#isParallel = true;
    let { begin, limit } = this.#place;
    for (let i = 0; i < many; i += 1) {
      const places = begin + (limit ?? this.#largest);
      const place = this.#ruler.windowAfter({ ...this.#read(), places }, this.#overlap());
      if (place.begin <= begin) break;
      requests.push(this.#request(place));
      ({ begin, limit } = place);
    }
    return requests;
  }

  #read(): Covered {
    return { places: this.#places, largest: this.#largest, isProven: this.#isProven };
  }

  #overlap(): number {
    return overlaps[this.#widened] ?? Math.max(1, Math.floor(this.#largest / 2));
  }

  #request({ position, limit }: Place): PageRequest {
    const last = this.#tail[this.#places - 1 - this.#tailBegin] ?? this.#tail.at(-1);
    const window = {
      covered: this.#places,
      last: last?.id ?? '',
      largest: this.#largest,
      inserted: this.#inserted,
    };
    return ask({ ...position, window }, limit ?? this.#limit);
  }

  #askNext(): Step {
    this.#place = this.#ruler.windowAfter(this.#read(), this.#overlap());
    return this.#request(this.#place);
  }

  #afterStart(answer: PageAnswer): Step {
    const { count } = answer.facts;
    this.#first = answer;
    this.#limit = answer.request.limit;
    this.#places = count;
    this.#largest = count;
    this.#keep(answer, 0);
    if (count === 0) return complete('empty');
    const evidence = endOf(answer, count);
    return evidence === undefined ? this.#askNext() : complete(evidence);
  }

  #afterWindow(answer: PageAnswer): Step {
    const { count } = answer.facts;
    const begin = this.#place?.begin ?? 0;
    const [head] = answer.head;
    const moved = head === undefined || answer.isLeft ? undefined : this.#displacement(head);
    if (!this.#isProven && (moved !== 0 || count > (this.#place?.limit ?? count)))
      return this.#first === undefined ? this.#reread() : this.#ruler.otherwise(this.#first, answer);
    if (moved === undefined) return this.#widen();
    this.#isProven = true;
    // A window that was asked for because a record had gone begins with one that stands further up than it did.
    if (this.#isWidening && moved >= 0) this.#isUnclear = true;
    // Several changes between pages that were requested together may hide each other.
    if (this.#isParallel && (moved !== 0 || this.#isWidening)) this.#isUnclear = true;
    this.#isWidening = false;
    this.#inserted += Math.max(0, moved);
    const longest = this.#largest;
    this.#largest = Math.max(longest, count);
    const known = this.#joined(answer.head, begin - moved - this.#tailBegin);
    this.#places = begin + known + answer.fresh;
    this.#keep(answer, begin);
    const evidence = endOf(answer, begin + count, Math.min(longest, this.#place?.limit ?? longest));
    if (evidence !== undefined) return this.#finish(evidence);
    this.#idle = answer.fresh === 0 ? this.#idle + 1 : 0;
    const isFull = count >= Math.min(this.#place?.limit ?? this.#largest, this.#largest);
    if (answer.fresh === 0 && (!isFull || this.#idle > 2))
      return isFull ? this.#reread() : this.#finish('nothing-behind');
    return this.#askNext();
  }

  #afterResumption(answer: PageAnswer): Step {
    const begin = this.#place?.begin ?? 0;
    const at = answer.head.findIndex(({ id }) => id === this.#resumed?.id);
    if (at < 0) return this.#widen();
    this.#resumed = undefined;
    this.#isWidening = false;
    this.#inserted += Math.max(0, begin + at - (this.#places - 1));
    this.#places = begin + answer.facts.count;
    this.#keep(answer, begin);
    const evidence = endOf(answer, this.#places);
    if (evidence !== undefined) return this.#finish(evidence);
    if (answer.facts.count === at + 1) return this.#finish('nothing-behind');
    return this.#askNext();
  }

  /** By how many places a record has moved since it was read: down where others were inserted before it. */
  #displacement(first: ScannedRecord): number | undefined {
    const expected = (this.#place?.begin ?? 0) - this.#tailBegin;
    if (isSame(this.#tail[expected], first)) return 0;
    const at = this.#tail.findLastIndex((record) => isSame(record, first));
    return at < 0 ? undefined : expected - at;
  }

  /** How many records of an answer are those of the window before, from one on. */
  #joined(head: readonly ScannedRecord[], from: number): number {
    let known = 0;
    while (known < head.length && isSame(head[known], this.#tail[from + known])) known += 1;
    return known;
  }

  #keep(answer: PageAnswer, begin: number): void {
    this.#tail = answer.tail;
    this.#tailBegin = begin + answer.facts.count - answer.tail.length;
    this.#lastWindow = answer.request;
    this.#lastHead = answer.head[0];
  }

  /** The window does not join: what was read has become shorter. */
  #widen(): Step {
    this.#isWidening = true;
    if (this.#widened >= overlaps.length) return this.#reread();
    const { begin = 0 } = this.#place ?? {};
    do this.#widened += 1;
    while (
      this.#widened < overlaps.length &&
      this.#ruler.windowAfter(this.#read(), this.#overlap()).begin >= begin
    );
    return this.#askNext();
  }

  #afterRejection(answer: Rejection): Step {
    if (this.#phase !== 'walk') return this.#reread();
    if (this.#isProven) return this.#widen();
    return this.#first === undefined ? this.#reread() : this.#ruler.otherwise(this.#first, answer);
  }

  #finish(evidence: Evidence): Step {
    if (this.#isTotalMet) return complete('total');
    if (this.#isUnclear) return this.#reread();
    if (this.#inserted === 0) return complete(evidence);
    this.#evidence = evidence;
    this.#phase = 'front';
    return probe(start, this.#limit);
  }

  /** As many different leads came as each answer counts. */
  get #isTotalMet(): boolean {
    return this.#isCountStable && this.#total === this.#met;
  }

  #count({ hints: { total }, fresh }: PageAnswer): void {
    this.#isCountStable &&= this.#total === undefined ? this.#met === 0 : this.#total === total;
    this.#total = total;
    this.#met += fresh;
  }

  /** What was inserted is explained where it stands at the start, and the list goes on behind it as it was read. */
  #afterFront(answer: PageAnswer): Step {
    const { leadingFresh, head } = answer;
    if (this.#lastWindow === undefined || !isSame(head[leadingFresh], this.#first?.head[0]))
      return this.#reread();
    this.#explained = leadingFresh;
    this.#phase = 'last';
    return { ...this.#lastWindow, isProbe: true };
  }

  /** More may have been inserted before the start was read: then the last window begins elsewhere. */
  #afterLast({ head }: PageAnswer): Step {
    const isExplained = this.#explained === this.#inserted && isSame(head[0], this.#lastHead);
    return isExplained ? complete(this.#evidence) : this.#reread();
  }

  #reread(): Step {
    return { kind: 'reread', pager: this.again(), isRestart: false };
  }
}
