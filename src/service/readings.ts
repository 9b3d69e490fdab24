import type { ScannedRecord } from '../json/scanned-record.ts';
import { type AddResult, type IdSet, UnidentifiedRecords } from '../lead/id-set.ts';
import { complete, isSame, moreCounted, unproven } from './pagers/pager.ts';
import type { Complete, DirectStep, Movement, PageAnswer, Unproven } from './pagers/pager.ts';
import type { Position } from './pagers/position.ts';

/** A list that moves in each of these readings is given up. */
const mostReadings = 3;

/**
 * How a reading ended when another one begins: it came to the end of the list, and the next one is compared with it; it stopped
 * because the list moved; or it was a mistake, and does not count as a reading.
 */
export type ReadingFate = 'finished' | 'broken off' | 'discarded';

/**
 * Counts of one page. The leading records of a kind are those before the first one of another kind.
 * - new: neither this walk nor an interrupted run before it had met the record; `withoutId` counts the new ones without an id
 * - fresh: this reading had not met it; repeated: it had
 * - `identified`: the record has an id
 * - `isFruitful`: some lead is new, or known from an earlier run and met by the first reading of this walk
 * - `hash`: depends on the ids, or the bytes where there is no id, and on their order
 */
class PageTally {
  readonly newRecords: ScannedRecord[] = [];
  count = 0;
  fresh = 0;
  leadingFresh = 0;
  repeated = 0;
  leadingRepeated = 0;
  identified = 0;
  withoutId = 0;
  isFruitful = false;
  hash = 0;
}

/**
 * A reading, as far as it went.
 * - `pass`: the pass of the `IdSet` in which its ids are added
 * - `isResumed`: it begins where an interrupted run stopped, not at the start of the list
 * - `answers`: its pages, empty answers and rejections
 * - `met`: its different records; `added`: the new ones of these; `metLater`: those that came once more in later readings
 * - `isParallel`: pages were requested together, so that their order does not say when the list moved
 */
class Reading {
  readonly pass: number;
  readonly isResumed: boolean;
  pages = 0;
  answers = 0;
  met = 0;
  added = 0;
  metLater = 0;
  /** The length that all pages but the last have had so far; undefined: their lengths differ. */
  pageLength: number | undefined;
  /** Records that came a second time, except those that an insertion had pushed from one page to the next. */
  repeats = 0;
  /** A part of `repeats`: a page brought these beside as many fresh records as a page has, so that they took no lead's place. */
  repeatsBeside = 0;
  /** Records inserted before what was read, each of which pushes one to the next page; and those that the start of the list shows. */
  inserted = 0;
  shownCount = 0;
  /** A look did not show what was inserted: pages repeat leads by themselves, or leads moved. There is no second look. */
  isLookUseless = false;
  hash = 0;
  isParallel = false;

  constructor(pass: number, isResumed: boolean) {
    this.pass = pass;
    this.isResumed = isResumed;
  }

  /**
   * Whether later readings met all that this one met, and no record came twice in it. Then no record had gone from what was read
   * before its end, and the inserted ones are at the start of the list, where they were read.
   */
  get isProven(): boolean {
    const isOnce = this.repeats === this.repeatsBeside && this.inserted <= this.shownCount;
    return !this.isParallel && isOnce && this.metLater === this.met;
  }
}

/** The number of all leads, by the first and the last answer of a reading that tell it; stable: all answers tell the same. */
interface Totals {
  readonly first: number;
  readonly last: number;
  readonly isStable: boolean;
}

/**
 * Compares the readings of a list whose positions count records. Where a record goes while the list is read, the next ones move up by
 * a place, and one may pass from a page that is still to come to one that was read. So the list is read again, until a total is met,
 * two readings are the same, or later readings have met all of an earlier one. The walk begins each page, adds its records, and ends it.
 *
 * Of the whole walk:
 * - `firstPass`: the pass of its first reading; ids that the walk has met belong to this pass or a later one
 * - `#metInAnyReading`: the number of different records of all readings together
 * - `#firstTotal`: the first number of all leads that any answer told
 * - `#finished`: the readings before the current one that came to an end, since one was discarded
 * - `#unconfirmedEnd`: the end that the last of these came to
 * - `#readingCount`: the current reading, and those before it that were not discarded
 * - `duplicates`: records that came a second time in one reading
 *
 * Of the current reading, and reset by `begin`:
 * - `#totals`: what its answers count
 * - `#hashBefore`, `#tailBefore`: the hash and the last records of the page before the current one
 * - `#firstRecord`: the record with which the list began when that was read last
 */
export class Readings {
  readonly #ids: IdSet;
  readonly #unidentified = new UnidentifiedRecords();
  readonly firstPass: number;
  readonly #resumedTotals: Position['totals'];
  #metInAnyReading = 0;
  #firstTotal: number | undefined;
  #current: Reading;
  #finished: Reading[] = [];
  #readingCount = 1;
  duplicates = 0;
  #unconfirmedEnd: Complete = complete('nothing-behind');
  #page = new PageTally();
  #totals: Totals | undefined;
  #hashBefore: number | undefined;
  #tailBefore: readonly ScannedRecord[] = [];
  #firstRecord: ScannedRecord | undefined;

  constructor(ids: IdSet, { style, totals }: Position) {
    ids.nextPass();
    this.#ids = ids;
    this.firstPass = ids.pass;
    this.#resumedTotals = totals;
    if (totals !== undefined) this.#totals = { ...totals, isStable: totals.first === totals.last };
    this.#current = new Reading(ids.pass, style !== 'start');
  }

  get isFirst(): boolean {
    return this.#finished.length === 0 && this.#readingCount === 1;
  }

  get #metBefore(): number {
    return this.#resumedTotals?.met ?? 0;
  }

  get totals(): Position['totals'] {
    return this.#totals && { met: this.#different, first: this.#totals.first, last: this.#totals.last };
  }

  /** Different leads up to here. A resumed reading counts new ones only: a known one may have moved here from before its begin. */
  get #different(): number {
    const { isResumed, added, met } = this.#current;
    return isResumed ? this.#metBefore + added : met;
  }

  get added(): number {
    return this.#current.added;
  }

  /** A page that was requested early did not fit any more: the list has moved, whatever a later answer counts. */
  markMoved(): void {
    this.markParallel();
    this.#totals &&= { ...this.#totals, isStable: false };
  }

  markParallel(): void {
    this.#current.isParallel = true;
  }

  countRejection(): void {
    this.#current.answers += 1;
  }

  /** Begins a page; `add` counts in the tally that is returned. */
  beginPage(): Readonly<PageTally> {
    this.#page = new PageTally();
    return this.#page;
  }

  /**
   * Adds records to the page. In the first reading each record without an id is new; in later ones those whose bytes were met are
   * not. `isRetried`: some of them may have come in an answer that broke off, and are no repeats.
   */
  add(leads: readonly ScannedRecord[], isRetried = false): void {
    const tally = this.#page;
    const { isFirst } = this;
    const hashes = this.#ids.hashes(leads);
    const unidentified = this.#unidentified.size;
    for (let i = 0; i < leads.length; i += 1) {
      const lead = leads[i] as ScannedRecord;
      const earlier = this.#finished.length === 0 ? undefined : this.#lastReadingOf(lead);
      const result = this.#meet(lead, hashes[i] as number);
      tally.hash = (Math.imul(tally.hash, 31) + ((hashes[i] as number) || textHash(lead))) | 0;
      tally.count += 1;
      if (lead.hasId) tally.identified += 1;
      if (result === 'repeat' && isRetried) continue;
      if (result === 'repeat') {
        tally.repeated += 1;
        if (tally.leadingRepeated === tally.count - 1) tally.leadingRepeated += 1;
        continue;
      }
      if (tally.leadingFresh === tally.count - 1) tally.leadingFresh += 1;
      tally.fresh += 1;
      if (earlier !== undefined) earlier.metLater += 1;
      if (result === 'new' || this.#current.pass === this.firstPass) this.#metInAnyReading += 1;
      if (lead.hasId && (result === 'new' || isFirst)) tally.isFruitful = true;
      if (result !== 'new') continue;
      tally.newRecords.push(lead);
      if (!lead.hasId) tally.withoutId += 1;
    }
    if (this.#unidentified.size > unidentified) tally.isFruitful = true;
  }

  #lastReadingOf({ hasId, id = '' }: ScannedRecord): Reading | undefined {
    const pass = hasId ? this.#ids.passOf(id) : undefined;
    return this.#finished.find((reading) => reading.pass === pass);
  }

  #meet(lead: ScannedRecord, hash: number): AddResult {
    if (lead.hasPlainId) return this.#ids.addBytes(lead.source, lead.idStart, lead.idEnd, hash);
    if (lead.hasId) return this.#ids.add(lead.id ?? '');
    return this.#unidentified.add(lead) ? 'new' : 'earlier';
  }

  /** Whether the page has the records of the page before, in order, none of which has an id that would show it. */
  get repeatsPageBefore(): boolean {
    const { identified, count, hash } = this.#page;
    return count > 0 && identified === 0 && hash === this.#hashBefore;
  }

  isMet({ id }: { readonly id: string | undefined }): boolean {
    return id !== undefined && this.#ids.isMetSince(id, this.#current.pass);
  }

  /** Records what an answer counts; called alone for a page whose records are skipped. */
  recordTotal({ hints: { total }, facts: { count } }: PageAnswer): void {
    if (total !== undefined) {
      this.#firstTotal ??= total;
      const { first, isStable } = this.#totals ?? { first: total, isStable: true };
      this.#totals = { first, last: total, isStable: isStable && first === total };
    } else if (count > 0) this.#totals &&= { ...this.#totals, isStable: false };
  }

  /** Records were inserted before what was read, and it is not known which: a look at the start of the list may show them. */
  get isLookDue(): boolean {
    const { inserted, shownCount, isResumed } = this.#current;
    return inserted > shownCount && !isResumed && this.#firstRecord !== undefined;
  }

  /**
   * Ends a look at the start of the list. It explains the insertions where it begins with as many fresh records, and the list
   * continues behind them as it began before. Otherwise what seemed inserted counts as repeated.
   */
  endLook(answer: PageAnswer): void {
    const { head, leadingFresh, fresh, isSkipped } = answer;
    const current = this.#current;
    this.recordTotal(answer);
    if (!isSkipped) this.#hashBefore = this.#page.hash;
    current.shownCount += leadingFresh;
    current.met += fresh;
    const isExplained =
      current.shownCount >= current.inserted && isSame(head[leadingFresh], this.#firstRecord);
    this.#firstRecord = head[0];
    if (!isExplained) this.endUselessLook();
  }

  /** Ends a look that explains nothing, such as one that the service rejected. */
  endUselessLook(): void {
    const current = this.#current;
    current.repeats += current.inserted;
    current.isLookUseless = true;
    current.inserted = 0;
  }

  /** Ends a page whose records were added: compares it with the page before, and counts what moved between both. */
  endPage(answer: PageAnswer, movement: Movement): void {
    const current = this.#current;
    const { fresh, leadingRepeated, repeated, count, hash, newRecords } = this.#page;
    const { head, request } = answer;
    this.recordTotal(answer);
    this.#hashBefore = hash;
    current.answers += 1;
    const isKnownProbe = request.isProbe === true && fresh === 0;
    if (count === 0 || isKnownProbe) return;
    if (current.pages === 0) this.#firstRecord = head[0];
    current.pages += 1;
    current.met += fresh;
    current.added += newRecords.length;
    current.hash = (Math.imul(current.hash, 31) + Math.imul(hash, 2 * current.answers + 1)) | 0;
    // A page that has as many fresh records as each page before is long, and repeats others beside them: none was pushed.
    const isBeside = current.pages > 1 && fresh === current.pageLength && count > fresh;
    if (current.pages === 1) current.pageLength = count;
    else if (!isBeside && count !== current.pageLength) current.pageLength = undefined;
    const isPushed = !isBeside && !current.isLookUseless && this.#beginsWithTail(head, leadingRepeated);
    if (isPushed && movement === 'counted') current.inserted += leadingRepeated;
    const isOverlap = movement === 'overlapped' || request.position.style === 'before';
    const repeats = repeated - (isOverlap || isPushed ? leadingRepeated : 0);
    current.repeats += repeats;
    if (isBeside) current.repeatsBeside += repeats;
    this.duplicates += isOverlap ? repeats : repeated;
    this.#tailBefore = answer.tail;
  }

  /** Whether a page begins with the last `length` records of the page before: an insertion before both pushes them there. */
  #beginsWithTail(head: readonly ScannedRecord[], length: number): boolean {
    const tail = this.#tailBefore;
    return length > 0 && isSame(head[length - 1], tail.at(-1)) && isSame(head[0], tail.at(-length));
  }

  /**
   * Reviews the pager's step. An end of a counted list needs another reading, unless a total or an earlier reading confirms it;
   * a page is not needed where the reading is the same as the one before up to here, whose end this was.
   */
  review(step: DirectStep, movement: Movement): DirectStep | 'reread' {
    if (movement !== 'counted') return step;
    const current = this.#current;
    const before = this.#finished.at(-1);
    const isConfirmed = before !== undefined && this.#isSameReading(current, before);
    if (step.kind === 'page') return isConfirmed ? this.#unconfirmedEnd : step;
    if (step.kind !== 'complete') return step;
    const isOnlyAnswer = current.answers < 2 && before === undefined && !current.isResumed;
    if (isOnlyAnswer || this.#isTotalMet || this.#isShortWithoutMove) return step;
    // The first total was larger than all leads that the readings met: each of them may have missed one.
    const isCountedMore = (this.#firstTotal ?? 0) > this.#metBefore + this.#metInAnyReading;
    if (!isCountedMore && (isConfirmed || this.#finished.some(({ isProven }) => isProven))) return step;
    this.#unconfirmedEnd = step;
    return 'reread';
  }

  /** Readings before this one met leads that it has not met: these are elsewhere in the list, or gone. */
  get isShortOfOthers(): boolean {
    return this.#metInAnyReading > this.#current.met;
  }

  #isSameReading(a: Reading, b: Reading): boolean {
    // A total that changes shows that the list does, even where both readings are the same.
    return this.#totals?.isStable !== false && a.pages === b.pages && a.hash === b.hash;
  }

  get #isTotalMet(): boolean {
    return this.#totals?.isStable === true && this.#totals.first === this.#different;
  }

  /** Fewer leads came than the service counts, and no sign of a move explains it: another reading would bring no more. */
  get #isShortWithoutMove(): boolean {
    const { isResumed, met, repeats, inserted } = this.#current;
    if (isResumed || this.#shortfall(met) === undefined) return false;
    const isEmptied = this.#totals?.last === 0;
    return isEmptied || (this.#totals?.isStable === true && repeats + inserted === 0);
  }

  /** Says that fewer leads came than the service counts. A resumed reading without stored totals does not know how many came. */
  contraryTotal(): Unproven | undefined {
    const { isResumed, met } = this.#current;
    if (!isResumed) return this.#shortfall(Math.max(met, this.#metBefore));
    return this.#resumedTotals && this.#shortfall(this.#metBefore + met);
  }

  #shortfall(met: number): Unproven | undefined {
    if (this.#totals === undefined) return undefined;
    const { first, last } = this.#totals;
    if (last === 0 && met < first) return unproven('the service counted leads at first, and none in the end');
    const total = Math.min(first, last);
    // Some services count a record as often as they give it.
    const isReached = met + this.#current.repeats >= total;
    return isReached ? undefined : moreCounted(`the service counts ${total} leads and gave ${met}`);
  }

  /** Begins another reading, from the start of the list; false where the list moved in all that are allowed. */
  begin(fateOfCurrent: ReadingFate): boolean {
    const isDiscarded = fateOfCurrent === 'discarded' || this.#current.isResumed;
    if (!isDiscarded && this.#readingCount >= mostReadings) return false;
    if (isDiscarded) this.#finished = [];
    else if (fateOfCurrent === 'finished') this.#finished.push(this.#current);
    if (!isDiscarded) this.#readingCount += 1;
    this.#ids.nextPass();
    this.#unidentified.nextPass();
    this.#current = new Reading(this.#ids.pass, false);
    this.#totals = undefined;
    this.#hashBefore = undefined;
    this.#tailBefore = [];
    this.#firstRecord = undefined;
    return true;
  }
}

function textHash(lead: ScannedRecord): number {
  const text = lead.hasId ? (lead.id ?? '') : Buffer.from(lead.bytes).toString('latin1');
  let hash = 7;
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
