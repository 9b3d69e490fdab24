import type { ScannedRecord } from '../../json/scanner.ts';
import type { IdSet } from '../../lead/id-set.ts';
import {
  countOfPosition,
  isTellingNumber,
  type Position,
  positionKey,
  recordBefore,
  withNumber,
} from '../pagination/position.ts';
import { type Border, BorderCheck } from './check-page-border.ts';
import type { Peek } from './fetch-page.ts';
import { PlacesOfPage } from './passes.ts';
import { PagesAhead } from './pages-ahead.ts';
import { looksFull } from './walk-state.ts';

/**
 * Makes sure that a page continues where the one before it ended: records that vanish or move while a list is read
 * move the others forward, over the border of a page that was read. Offsets overlap by one record; the borders of
 * numbered pages are checked, unless the total of the list is to settle it. If records may lie between, the walk steps
 * back until a page begins with a known record. Positions that only the service understands are left to the service.
 */
export class GapDetector {
  readonly #seen: IdSet;
  readonly #check: BorderCheck;
  readonly #isEarly: (position: Position) => boolean;
  readonly #firstPage: number;
  /** Where the list begins. */
  readonly front = new Front();
  readonly steps = new StepsBack();
  readonly places = new PlacesOfPage();
  readonly ahead: PagesAhead;
  /** Whether every border is checked, instead of comparing totals at the end. */
  verifies = false;
  /** The parameter for which the front of the list came back empty: the service may take it for a filter. */
  emptied: string | undefined;
  /** Whether records stood elsewhere than before, in this pass. */
  hasShifted = false;
  /** Whether leads that were read stood further behind again, in front of others: these may have done so unread. */
  hasMovedBack = false;
  /** Borders of pages that were left to the totals. */
  unchecked = 0;
  #firstNumber: number | undefined;
  /** That number is one less than it was taken for at first. */
  #isRecounted = false;
  #length: number | 'mixed' | undefined;
  #lastLength = 0;
  #longest = 0;
  /** The page that is read again when a page walk is resumed, or after a step back. */
  #readAgain: Position | undefined;
  /** Whether what stands in front of the record before it was read: by an earlier run, or before pages that moved. */
  #resumes: 'run' | 'walk' | undefined;
  /** At each border of this reading of the list, whether the last record that was read stood further back. */
  #borders: boolean[] = [];
  /** Up to the first page with a lead that was not read. */
  #isSteppingBack = false;
  /** Keys of the positions in front of which the list was read once more. */
  readonly #reread = new Set<string>();
  /** The pass of `seen` with which the list was last started; 0 where a resumed walk goes on with what was read before. */
  #passStart: number;

  /**
   * `isEarly` is whether a page was requested before the page in front of it was read, and `arrivesInFront` is whether
   * leads enter the list only when they are created.
   */
  constructor(
    seen: IdSet,
    peek: Peek,
    firstPage: number,
    isEarly: (position: Position) => boolean,
    arrivesInFront: boolean,
  ) {
    this.#seen = seen;
    this.#isEarly = isEarly;
    this.#passStart = seen.pass;
    this.#check = new BorderCheck(this.#isRead, peek);
    this.ahead = new PagesAhead(peek, this.#isLeadRead, arrivesInFront);
    this.#firstPage = firstPage;
  }

  /** Whether this pass over the list has met an id. What only an earlier one has met may lie behind a gap of this one. */
  readonly #isRead = (id: string): boolean => this.#seen.isMetSince(id, this.#passStart);

  /** Creates no string for most leads. */
  readonly #isLeadRead = (lead: ScannedRecord): boolean => {
    if (lead.hasPlainId)
      return this.#seen.isMetSinceBytes(lead.source, lead.idStart, lead.idEnd, this.#passStart);
    return lead.id !== undefined && this.#isRead(lead.id);
  };

  get isExhausted(): boolean {
    return this.emptied !== undefined || this.steps.isExhausted;
  }

  /** Whether both sides of each border stood in one answer, in this reading. */
  get isShown(): boolean {
    return this.#check.unshown === 0 && this.ahead.shownUpTo === undefined && !this.ahead.isRefuted;
  }

  /** Whether this reading shows no movement, and is there to be compared with the one before it. */
  get isStillCompared(): boolean {
    return this.#check.isCompared && !this.hasShifted && !this.hasMovedBack;
  }

  /**
   * Whether records stood further back at some borders, and not at most of them, as where a service repeats some of the page
   * before by itself.
   */
  get hasSeldomShifted(): boolean {
    const shifted = this.#borders.filter((isShifted) => isShifted).length;
    return shifted > 0 && shifted * 3 <= this.#borders.length && !this.places.hasOutOfPlace;
  }

  /** Whether this reading found anything elsewhere than it was, or a border that nothing shows. */
  get hasMoved(): boolean {
    return this.hasShifted || this.hasMovedBack || !this.isShown;
  }

  /** Whether pages that are requested early are of use: their borders can be checked afterwards. */
  get canReadAhead(): boolean {
    return !this.verifies || this.#check.isSmallSizeHonoured !== false;
  }

  /** Where a walk really begins: a page walk reads the page before its position again. */
  startAt(from: Position): Position {
    if (from.style !== 'start') {
      this.ahead.close();
      this.#passStart = 0;
      // What was not shown, or stood elsewhere, up to here.
      if (from.hasMoved === true) this.#check.unshown += 1;
      // Borders before it were left to the totals, where there are any: they count as one.
      this.verifies = from.totals === undefined;
      this.unchecked = this.verifies ? 0 : 1;
    }
    const number = countOfPosition(from);
    if (number?.kind !== 'page' || recordBefore(from) === undefined) return from;
    if (number.value <= this.#firstPage) return from;
    this.#resumes = 'run';
    this.#firstNumber = this.#firstPage;
    this.#readAgain = withNumber(from, number.value - 1, recordBefore(from));
    return this.#readAgain;
  }

  /** The list is read from its front once more, as a new pass of `seen`. */
  beginPass(isFrontAlone: boolean): void {
    this.#passStart = this.#seen.pass;
    this.front.beginReading(isFrontAlone);
    this.hasShifted = false;
    this.ahead.beginPass();
    this.#resumes = undefined;
    this.verifies = true;
    this.unchecked = 0;
    if (!isFrontAlone) {
      this.#borders = [];
      this.#check.beginReading();
      this.#length = undefined;
    }
    this.steps.reset();
    this.#readAgain = undefined;
  }

  /** Whether pages ahead are to be looked at before this one, the second, is requested; `size` is what is sent. */
  isLookDue(position: Position, size: number | undefined): boolean {
    const number = countOfPosition(position);
    const isSecond = this.#firstNumber === undefined || number?.value === this.#firstNumber + 1;
    if (number?.kind !== 'page' || !isSecond || recordBefore(position) === undefined) return false;
    // A first page of an unusual length may be all.
    const isLong = this.#lastLength >= shortestPage && looksFull(this.#lastLength, size);
    return this.verifies && isLong && this.ahead.isNewestFirst;
  }

  /** Whether anything lies between this page and what was read before. To be called before its ids are met. */
  async borderOf(
    position: Position,
    leads: readonly ScannedRecord[],
    size: number | undefined,
  ): Promise<Border> {
    const number = countOfPosition(position);
    // An address that counts pages of one lead cannot overlap with the page before.
    if (number === undefined && isTellingNumber(position) && leads.length === 1 && this.#longest === 1)
      this.#check.unshown += 1;
    if (number === undefined || this.isExhausted) return 'joined';
    if (number.kind === 'page' && position !== this.#readAgain) this.#firstNumber ??= number.value - 1;
    // No lead in front, where some were: the service may take the parameter for a filter.
    if (this.#isFront(number.kind, number.value)) {
      if (leads.length > 0 || this.#seen.size === 0) return 'joined';
      // There is no page with that number.
      if (this.#isRecounted && this.#firstNumber !== undefined) this.#firstNumber += 1;
      else this.emptied = 'param' in position ? position.param : 'a page number';
      this.#isRecounted = false;
      return 'gap';
    }
    const after = recordBefore(position);
    const first = leads[0];
    const isFirstRead = first?.id !== undefined && this.#isRead(first.id);
    if (position === this.#readAgain) {
      if (this.#resumes !== undefined && leads.at(-1)?.id !== after) this.hasShifted = true;
      if (this.#resumes !== undefined && leads.some((lead) => lead.id === after)) return 'joined';
      // What was read behind it may lie behind a gap.
      if (this.#resumes === 'walk') this.#check.unshown += 1;
      return isFirstRead || (first !== undefined && first.id === undefined) ? 'joined' : 'known';
    }
    if (after === undefined) {
      if (first?.id !== undefined) this.#check.unshown += 1;
      return 'joined';
    }
    const at = leads.findIndex((lead) => lead.id === after);
    const isShifted = at > 0 || (at === 0 && number.kind === 'page');
    if (isShifted) this.hasShifted = true;
    this.#borders.push(isShifted);
    // Leads that arrive in front push the last one that was read along with the others.
    const areAllRead = this.#areRead(leads);
    const unread = leads.findIndex((lead) => !this.#isLeadRead(lead));
    // Behind a step back, the known ones are the rest of what was read.
    const isRest = this.#isSteppingBack && !leads.slice(Math.max(0, unread)).some(this.#isLeadRead);
    if (at < 0 && !areAllRead && !isRest && leads.some(this.#isLeadRead)) this.hasMovedBack = true;
    // At the end of the list, known leads alone behind it, where none arrived in front: it may have moved to the end with them.
    const isLast = leads.length < this.#longest;
    const behind = leads.length - (number.kind === 'offset' ? 1 : 0);
    const isMoved = behind > this.places.usuallyRepeated;
    if (at === 0 && isLast && isMoved && areAllRead && this.steps.mayLookAgain()) return 'known';
    const judged = this.ahead.judge(position, number.value, leads, at);
    if (judged !== undefined) return judged;
    if (at >= 0 && this.#areRead(leads.slice(0, at))) return 'joined';
    if (number.kind === 'offset') return isFirstRead ? 'known' : 'gap';
    if (first !== undefined && first.id === undefined) return 'joined';
    if (!this.verifies) {
      this.unchecked += 1;
      return 'joined';
    }
    if (leads.length === 0 && this.ahead.isEnd(number.value)) return 'joined';
    // Known leads alone, where none arrived in front, have moved to the end: the one in front of them may have, too.
    const isMixed = leads.length > 0 && areAllRead;
    const firstNumber = this.#firstNumber ?? this.#firstPage;
    // The first page has to come again whole where pages ahead were looked at.
    const isWhole = number.value - 1 === firstNumber && this.ahead.isInUse;
    return this.#check.look(position, first?.id, {
      firstNumber,
      length: isMixed || isWhole || this.#length === 'mixed' ? undefined : this.#length,
      before: this.#lastLength,
      isShortBefore: this.#lastLength < this.#longest,
      size,
      isEarly: this.#isEarly(position),
    });
  }

  /** Whether what stands in front of a page is to be read once more: only once for each position. */
  mayReread(position: Position): boolean {
    const key = positionKey(position);
    if (countOfPosition(position) === undefined || this.#reread.has(key)) return false;
    this.#reread.add(key);
    return true;
  }

  /** A position further in front, twice as far each time, down to the first. */
  stepBack(position: Position, border: Border): Position {
    const back = this.steps.add(border);
    this.hasShifted = true;
    this.#isSteppingBack = true;
    const moved = this.ahead.close();
    this.#resumes = moved && 'walk';
    const from = moved ?? position;
    const number = countOfPosition(from);
    if (number === undefined) return position;
    const step =
      moved !== undefined ? 1 : number.kind === 'page' ? back : back * Math.max(100, this.#longest);
    const value = number.value - step;
    const isFront = number.kind === 'page' ? value <= this.#frontNumber : value <= 0;
    const isNamed = position.style === 'page' || position.style === 'offset';
    if (isFront && (!isNamed || this.front.isUnknown)) {
      // A walk that was resumed does not know with which number pages begin.
      this.#firstNumber = undefined;
      return { style: 'start' };
    }
    // The record before it is unknown there: any known record at its beginning will do.
    const at = withNumber(
      from,
      isFront ? (number.kind === 'page' ? this.#frontNumber : 0) : value,
      recordBefore(from),
    );
    this.#readAgain = at;
    return at;
  }

  /** The records of a page that are to be looked at: those behind the record that a resumed page walk ended with. */
  unreadOf(position: Position, leads: readonly ScannedRecord[]): readonly ScannedRecord[] {
    this.#longest = Math.max(this.#longest, leads.length);
    this.steps.reset();
    if (position !== this.#readAgain && !this.#areRead(leads)) this.#isSteppingBack = false;
    const after = recordBefore(position);
    if (countOfPosition(position)?.kind === 'offset' && after !== undefined && leads[0]?.id === after)
      return leads.slice(1);
    if (position !== this.#readAgain) return leads;
    this.#readAgain = undefined;
    if (this.#resumes === undefined) return leads;
    const behind = leads.findIndex((lead) => lead.id === after) + 1;
    if (!this.#areRead(leads.slice(0, behind))) this.#check.unshown += 1;
    return leads.slice(behind);
  }

  /** The number that the first page turned out to have. */
  countFrom(first: number | undefined): void {
    if (first === undefined) return;
    this.#isRecounted = this.#firstNumber === first + 1;
    this.#firstNumber = first;
  }

  /** A page before the last one is complete. */
  notePageLength(count: number): void {
    this.#lastLength = count;
    if (this.#length !== undefined && this.#length !== count) this.#length = 'mixed';
    else this.#length = count;
  }

  #areRead(leads: readonly ScannedRecord[]): boolean {
    return leads.every(this.#isLeadRead);
  }

  get #frontNumber(): number {
    return this.#firstNumber ?? this.#firstPage;
  }

  #isFront(kind: 'page' | 'offset', value: number): boolean {
    return kind === 'offset' ? value === 0 : value <= this.#frontNumber;
  }
}

/** Of shorter pages, a few deletions would move all that was read in front of pages that are read again. */
const shortestPage = 5;

/** Ids that are kept of each reading. */
const length = 1000;

/** Where the list begins, as each pass found it: what moves or arrives there is found by reading it again. */
class Front {
  /** Places in the reading before this one. */
  #before: ReadonlyMap<string, number> = new Map();
  #now = new Map<string, number>();
  #isOldPage = false;
  #isOfFront = false;
  #idle = 0;

  /** True in a resumed walk, which has not read the beginning of the list. */
  get isUnknown(): boolean {
    return this.#before.size + this.#now.size === 0;
  }

  /**
   * The list is read from its beginning once more. With `isFrontAlone`, that is held against what the last reading of
   * the whole list found: a lead that moved there may stand behind others that moved after it.
   */
  beginReading(isFrontAlone: boolean): void {
    if (this.#now.size > 0 && !(isFrontAlone && this.#isOfFront)) this.#before = this.#now;
    this.#isOfFront = isFrontAlone;
    this.#now = new Map();
  }

  /** To be called with the first records of each page. Changes nothing in a pass that did not read the beginning. */
  notePage(leads: readonly ScannedRecord[], isStart: boolean, isFront: boolean): void {
    const isFull = this.#now.size >= length;
    if (!isFront && !isStart && (isFull || this.#now.size === 0)) return;
    const ids = leads.slice(0, length).flatMap(({ id }) => (id === undefined ? [] : [id]));
    for (const id of ids)
      if (this.#now.size < length && !this.#now.has(id)) this.#now.set(id, this.#now.size);
    const places = ids.flatMap((id) => this.#before.get(id) ?? []);
    this.#isOldPage = places.length * 2 > ids.length && this.#areAsBefore(places);
  }

  /** In the order of then, and what stood between them has been met further in front: it moved there. */
  #areAsBefore(places: readonly number[]): boolean {
    const order = [...this.#before.keys()];
    return places.every((place, i) => {
      const previous = places[i - 1] ?? place - 1;
      return previous < place && order.slice(previous + 1, place).every((id) => this.#now.has(id));
    });
  }

  /**
   * Whether it was read as far as leads may have moved there: to a page without a new lead that consists, for the
   * greater part, of what stood there before, as it stood. Leads that moved may hide others behind them.
   */
  isReadUpTo(isIdle: boolean): boolean {
    this.#idle = isIdle ? this.#idle + 1 : 0;
    return this.#before.size === 0 ? this.#idle > 1 : isIdle && this.#isOldPage;
  }
}

/** After so many steps back in a row without a new lead, a list that never stops moving is read on: it stays unproven. */
const mostWithoutNew = 3;

/** How often a walk has stepped back over pages that it had read, and how far the next step goes. */
class StepsBack {
  count = 0;
  /** Of these, because records went away in front. */
  gaps = 0;
  #withoutNew = 0;
  #hasLookedAgain = false;
  #distance = 0;

  get isExhausted(): boolean {
    return this.#withoutNew > mostWithoutNew;
  }

  /** One step more. Returns how far it goes: twice as far each time, until a page joins what was read before. */
  add(border: Border): number {
    this.count += 1;
    // Where leads only arrive, the steps end without this limit.
    if (!this.isExhausted && border === 'gap') this.#withoutNew += 1;
    if (border === 'gap') this.gaps += 1;
    this.#distance = this.#distance === 0 ? 1 : this.#distance * 2;
    return this.#distance;
  }

  /** A page joins what was read before. */
  reset(): void {
    this.#distance = 0;
  }

  /** Whether what stands in front of the list's end is to be read once more: again only where that brought a new lead. */
  mayLookAgain(): boolean {
    const may = !this.#hasLookedAgain;
    this.#hasLookedAgain = true;
    return may;
  }

  /** A page brought a new lead. */
  noteNew(): void {
    this.#hasLookedAgain = false;
    if (!this.isExhausted) this.#withoutNew = 0;
  }
}
