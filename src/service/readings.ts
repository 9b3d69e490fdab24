import type { ScannedRecord } from '../json/scanned-record.ts';
import type { AddResult, IdSet } from '../lead/id-set.ts';
import { UnidentifiedRecords } from '../lead/id-set.ts';
import { complete, isSame, moreCounted, unproven } from './pagers/pager.ts';
import type { Complete, Movement, PageAnswer, PagerStep, Unproven } from './pagers/pager.ts';
import type { Position } from './pagers/position.ts';

/** A list that moves in each of these readings is given up. */
const mostReadings = 3;

const newTally = () => ({
  /** Records that this walk had not met, and that were not known before it. */
  kept: [] as ScannedRecord[],
  count: 0,
  /** Records that this reading had not met, and those before the first other one. */
  ...{ fresh: 0, leadingFresh: 0 },
  /** Records that this reading had met. */
  ...{ repeated: 0, leadingKnown: 0 },
  ...{ withoutId: 0, bringsNew: false, identified: 0, hash: 0 },
});

type PageTally = ReturnType<typeof newTally>;

class Reading {
  readonly pass: number;
  readonly isResumed: boolean;
  pages = 0;
  answers = 0;
  met = 0;
  /** Leads of these that were not known before the walk. */
  added = 0;
  /** Leads of these that came once more in later readings. */
  metAgain = 0;
  /** Records that each page brought which was not the last one; undefined: they differ. */
  pageLength: number | undefined;
  /** Records that came once more in another place than one that was only pushed there. */
  repeats = 0;
  /** Repeats that a page brought beside all records of its places. */
  repeatsBeside = 0;
  /** Records that were inserted before what was read: they push those of the page before to the next one. */
  inserted = 0;
  /** Inserted records that stand at the start of the list, as far as that was looked at. */
  shownCount = 0;
  /** The start of the list did not show what was inserted: pages repeat leads by themselves, or they moved. */
  isLookUseless = false;
  hash = 0;
  isParallel = false;

  constructor(pass: number, isResumed: boolean) {
    this.pass = pass;
    this.isResumed = isResumed;
  }

  /**
   * Whether all that this reading met was met after it, and no record came twice in it: then none had gone from what was read,
   * and none was inserted there but those that stand at the start of the list.
   */
  get isProven(): boolean {
    const isOnce = this.repeats === this.repeatsBeside && this.inserted <= this.shownCount;
    return !this.isParallel && isOnce && this.metAgain === this.met;
  }
}

interface Totals {
  readonly first: number;
  readonly last: number;
  readonly isStable: boolean;
}

export class Readings {
  readonly #ids: IdSet;
  readonly #unidentified = new UnidentifiedRecords();
  readonly firstPass: number;
  #metInAll = 0;
  #firstTotal: number | undefined;
  readonly #resumed: Position['totals'];
  #current: Reading;
  #finished: Reading[] = [];
  #count = 1;
  #totals: Totals | undefined;
  #lastHash: number | undefined;
  #tail: readonly ScannedRecord[] = [];
  #firstRecord: ScannedRecord | undefined;
  #page: PageTally = newTally();
  #evidence: Complete = complete('nothing-behind');

  constructor(ids: IdSet, { style, totals }: Position) {
    ids.nextPass();
    this.#ids = ids;
    this.firstPass = ids.pass;
    this.#resumed = totals;
    if (totals !== undefined) this.#totals = { ...totals, isStable: totals.first === totals.last };
    this.#current = new Reading(ids.pass, style !== 'start');
  }

  get isFirst(): boolean {
    return this.#finished.length === 0 && this.#count === 1;
  }

  get #metBefore(): number {
    return this.#resumed?.met ?? 0;
  }

  get totals(): Position['totals'] {
    return this.#totals && { met: this.#different, first: this.#totals.first, last: this.#totals.last };
  }

  /** Different leads up to here. Those that a resumed walk knows may have come before it, and come once more because they moved. */
  get #different(): number {
    const { isResumed, added, met } = this.#current;
    return isResumed ? this.#metBefore + added : met;
  }

  get added(): number {
    return this.#current.added;
  }

  /** A page that was requested early did not fit any more: the list has moved, whatever a later answer counts. */
  noteDropped(): void {
    this.noteParallel();
    this.#totals &&= { ...this.#totals, isStable: false };
  }

  noteParallel(): void {
    this.#current.isParallel = true;
  }

  noteRejection(): void {
    this.#current.answers += 1;
  }

  beginPage(): PageTally {
    this.#page = newTally();
    return this.#page;
  }

  /**
   * Adds records of a page, and counts. A record without an id is kept unless the list is read once more. `isRetried`: some of
   * them may have come in an answer that broke off.
   */
  add(leads: readonly ScannedRecord[], isRetried = false): void {
    const tally = this.#page;
    const { isFirst } = this;
    const hashes = this.#ids.hashes(leads);
    const unidentified = this.#unidentified.size;
    for (let i = 0; i < leads.length; i += 1) {
      const lead = leads[i] as ScannedRecord;
      const before = this.#finished.length === 0 ? undefined : this.#readingOf(lead);
      const result = this.#meet(lead, hashes[i] as number);
      tally.hash = (Math.imul(tally.hash, 31) + ((hashes[i] as number) || textHash(lead))) | 0;
      tally.count += 1;
      if (lead.hasId) tally.identified += 1;
      if (result === 'repeat' && isRetried) continue;
      if (result === 'repeat') {
        tally.repeated += 1;
        if (tally.leadingKnown === tally.count - 1) tally.leadingKnown += 1;
        continue;
      }
      if (tally.leadingFresh === tally.count - 1) tally.leadingFresh += 1;
      tally.fresh += 1;
      if (before !== undefined) before.metAgain += 1;
      if (result === 'new' || this.#current.pass === this.firstPass) this.#metInAll += 1;
      if (lead.hasId && (result === 'new' || isFirst)) tally.bringsNew = true;
      if (result !== 'new') continue;
      tally.kept.push(lead);
      if (!lead.hasId) tally.withoutId += 1;
    }
    if (this.#unidentified.size > unidentified) tally.bringsNew = true;
  }

  #readingOf({ hasId, id = '' }: ScannedRecord): Reading | undefined {
    const pass = hasId ? this.#ids.passOf(id) : undefined;
    return this.#finished.find((reading) => reading.pass === pass);
  }

  #meet(lead: ScannedRecord, hash: number): AddResult {
    if (lead.hasPlainId) return this.#ids.addBytes(lead.source, lead.idStart, lead.idEnd, hash);
    if (lead.hasId) return this.#ids.add(lead.id ?? '');
    return this.#unidentified.add(lead) ? 'new' : 'earlier';
  }

  /** Whether records without an id are those of the page before, in order. */
  isSamePage({ identified, count, hash }: PageTally): boolean {
    const isRepeated = count > 0 && identified === 0 && hash === this.#lastHash;
    this.#lastHash = hash;
    return isRepeated;
  }

  isMet({ id }: { readonly id: string | undefined }): boolean {
    return id !== undefined && this.#ids.isMetSince(id, this.#current.pass);
  }

  /** An answer counts also where its records are not read. */
  noteTotal({ hints: { total }, facts: { count } }: PageAnswer): void {
    if (total !== undefined) {
      this.#firstTotal ??= total;
      const { first, isStable } = this.#totals ?? { first: total, isStable: true };
      this.#totals = { first, last: total, isStable: isStable && first === total };
    } else if (count > 0) this.#totals &&= { ...this.#totals, isStable: false };
  }

  /** Records were inserted before what was read, and it is not known which: the start of the list may show them. */
  get isLookDue(): boolean {
    const { inserted, shownCount, isResumed } = this.#current;
    return inserted > shownCount && !isResumed && this.#firstRecord !== undefined;
  }

  /** The start of the list was read once more: what was inserted stands there, and the list continues as it did, or it is not known. */
  endLook(answer: PageAnswer): void {
    const { head, leadingFresh, fresh } = answer;
    const current = this.#current;
    this.noteTotal(answer);
    current.shownCount += leadingFresh;
    current.met += fresh;
    const isExplained =
      current.shownCount >= current.inserted && isSame(head[leadingFresh], this.#firstRecord);
    this.#firstRecord = head[0];
    if (isExplained) return;
    current.repeats += current.inserted;
    current.isLookUseless = true;
    current.inserted = 0;
  }

  /** The page is whole. Gives how many of its records the service sent once more. */
  endPage(answer: PageAnswer, movement: Movement): number {
    const current = this.#current;
    this.noteTotal(answer);
    const { fresh, leadingKnown, repeated, count, hash } = this.#page;
    const { head, request } = answer;
    current.answers += 1;
    // The first page may be asked for once more, by its number.
    if (count === 0 || (request.isProbe === true && fresh === 0)) return 0;
    if (current.pages === 0) this.#firstRecord = head[0];
    current.pages += 1;
    current.met += fresh;
    current.added += this.#page.kept.length;
    current.hash = (Math.imul(current.hash, 31) + Math.imul(hash, 2 * current.answers + 1)) | 0;
    // A page of fixed places that brings as many others as each page before repeats records beside them: none was pushed.
    const isBeside = current.pages > 1 && fresh === current.pageLength && count > fresh;
    if (current.pages === 1) current.pageLength = count;
    else if (!isBeside && count !== current.pageLength) current.pageLength = undefined;
    const isPushed =
      leadingKnown > 0 &&
      !isBeside &&
      !current.isLookUseless &&
      isSame(head[leadingKnown - 1], this.#tail.at(-1)) &&
      isSame(head[0], this.#tail.at(-leadingKnown));
    if (isPushed && movement === 'counted') current.inserted += leadingKnown;
    // Pages that overlap bring known records by themselves.
    const isOverlap = movement === 'overlapped' || request.position.style === 'before';
    const repeats = repeated - (isOverlap || isPushed ? leadingKnown : 0);
    current.repeats += repeats;
    if (isBeside) current.repeatsBeside += repeats;
    this.#tail = answer.tail;
    return isOverlap ? repeats : repeated;
  }

  /** The step that follows from one of the pager: it may be the end, or another reading, of which a confirmed one has no need. */
  judge(step: PagerStep, movement: Movement): PagerStep | 'reread' {
    if (movement !== 'counted') return step;
    const current = this.#current;
    const before = this.#finished.at(-1);
    const isConfirmed = before !== undefined && this.#isSameReading(current, before);
    if (step.kind === 'page') return isConfirmed ? this.#evidence : step;
    if (step.kind !== 'complete') return step;
    if (current.answers < 2 && before === undefined && !current.isResumed) return step;
    if (this.#isTotalMet || this.contraryTotal(false) !== undefined) return step;
    // The first total was larger than all leads that the readings met: one may have been passed over in each of them.
    const isCountedMore = (this.#firstTotal ?? 0) > this.#metBefore + this.#metInAll;
    if (!isCountedMore && (isConfirmed || this.#finished.some(({ isProven }) => isProven))) return step;
    this.#evidence = step;
    return 'reread';
  }

  /** Readings before this one met leads that it has not met: these are elsewhere in the list, or gone. */
  get isShortOfOthers(): boolean {
    return this.#metInAll > this.#current.met;
  }

  #isSameReading(a: Reading, b: Reading): boolean {
    // A count that changes in both shows that the list did, too.
    return this.#totals?.isStable !== false && a.pages === b.pages && a.hash === b.hash;
  }

  get #isTotalMet(): boolean {
    return this.#totals?.isStable === true && this.#totals.first === this.#different;
  }

  contraryTotal(isFinal: boolean): Unproven | undefined {
    const { isResumed, repeats, inserted, met: metHere } = this.#current;
    if (this.#totals === undefined || (isResumed && (!isFinal || this.#resumed === undefined)))
      return undefined;
    const { first, last, isStable } = this.#totals;
    const metInRun = metHere + (isResumed ? this.#metBefore : 0);
    const met = Math.max(metInRun, isFinal ? this.#metBefore : 0);
    if (last === 0 && met < first) return unproven('the service counted leads at first, and none in the end');
    const total = Math.min(first, last);
    // Some count a record as often as they give it.
    if (met + repeats >= total) return undefined;
    // Other leads may be missing because the list moved where some came once more.
    if (!isFinal && (!isStable || repeats + inserted > 0)) return undefined;
    return moreCounted(`the service counts ${total} leads and gave ${met}`);
  }

  /**
   * Begins another reading; false where the list moved in all of them. `isRestart`: the reading so far does not count as one;
   * `isFinished`: it came to its end.
   */
  begin(isRestart: boolean, isFinished: boolean): boolean {
    const isDiscarded = isRestart || this.#current.isResumed;
    if (!isDiscarded && this.#count >= mostReadings) return false;
    if (isDiscarded) this.#finished = [];
    else if (isFinished) this.#finished.push(this.#current);
    if (!isDiscarded) this.#count += 1;
    this.#ids.nextPass();
    this.#unidentified.nextPass();
    this.#current = new Reading(this.#ids.pass, false);
    this.#totals = undefined;
    this.#lastHash = undefined;
    this.#tail = [];
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
