import type { ScannedRecord } from '../json/scanner.ts';
import type { AddResult, IdSet, Unidentified } from '../lead/id-set.ts';
import { complete, isSame, unproven } from './pagers/pager.ts';
import type { Complete, Movement, PageAnswer, Step, Unproven } from './pagers/pager.ts';

/** A list that moves in each of them is given up. */
const mostReadings = 3;

/** What the records of one page turned out to be. */
export interface PageTally {
  /** Not met by this walk, nor known before it. */
  readonly kept: ScannedRecord[];
  count: number;
  /** Not met in this reading. */
  fresh: number;
  leadingFresh: number;
  leadingKnown: number;
  /** Met in this reading before. */
  repeated: number;
  /** New ones that have no id. */
  withoutId: number;
  /** A lead that this walk had not met. */
  bringsNew: boolean;
  identified: number;
  hash: number;
}

/** One reading of the list from its start to its end. */
interface Reading {
  readonly pass: number;
  /** It goes on where an earlier run has stopped. */
  readonly isResumed: boolean;
  pages: number;
  /** Answers, those without a lead among them. */
  answers: number;
  /** Different leads. */
  met: number;
  /** Of them, those that were not known before the walk. */
  added: number;
  /** Of them, those that came again in later readings. */
  metAgain: number;
  /** Records that each page brought which was not the last one; undefined: they differ. */
  pageLength: number | undefined;
  /** Records that came once more in another place than one that was only pushed there. */
  repeats: number;
  /** Of them, those that a page brought beside all records of its places. */
  repeatsBeside: number;
  /** Records that were inserted before what was read: they push those of the page before to the next one. */
  inserted: number;
  /** Of them, those that stand at the start of the list, as far as that was looked at. */
  shown: number;
  /** The start of the list did not show what was inserted: pages repeat leads by themselves, or they moved. */
  isLookUseless: boolean;
  hash: number;
  isParallel: boolean;
}

interface Totals {
  readonly first: number;
  readonly last: number;
  readonly isStable: boolean;
}

/** Readings of one list, and what they prove of each other. */
export class Readings {
  readonly #seen: IdSet;
  readonly #unidentified: Unidentified;
  readonly #firstPass: number;
  /** Different leads of all readings. */
  #union = 0;
  #firstTotal: number | undefined;
  readonly #metBefore: number;
  readonly #hasTotalsBefore: boolean;
  #now: Reading;
  /** Those before it that came to an end. */
  readonly #whole: Reading[] = [];
  #count = 1;
  #totals: Totals | undefined;
  #lastHash: number | undefined;
  #tail: readonly ScannedRecord[] = [];
  #front: ScannedRecord | undefined;
  #page: PageTally = newTally();
  #evidence: Complete = complete('nothing-behind');

  /** `resumed`: the totals up to where an earlier run has stopped. */
  constructor(
    seen: IdSet,
    unidentified: Unidentified,
    isResumed: boolean,
    resumed: { readonly met: number; readonly first: number; readonly last: number } | undefined,
  ) {
    this.#seen = seen;
    this.#unidentified = unidentified;
    seen.nextPass();
    this.#firstPass = seen.pass;
    this.#metBefore = resumed?.met ?? 0;
    this.#hasTotalsBefore = resumed !== undefined;
    if (resumed !== undefined)
      this.#totals = { first: resumed.first, last: resumed.last, isStable: resumed.first === resumed.last };
    this.#now = newReading(seen.pass, isResumed);
  }

  /** The pass of `seen` with which the walk began. */
  get firstPass(): number {
    return this.#firstPass;
  }

  get isFirst(): boolean {
    return this.#whole.length === 0 && this.#count === 1;
  }

  /** Of this reading, as far as it goes. */
  get totals(): { readonly met: number; readonly first: number; readonly last: number } | undefined {
    if (this.#totals === undefined) return undefined;
    const { first, last } = this.#totals;
    return { met: this.#different, first, last };
  }

  /** Different leads up to here. Those that a resumed walk knows may have come before it, and come again because they moved. */
  get #different(): number {
    const { isResumed, added, met } = this.#now;
    return isResumed ? this.#metBefore + added : met;
  }

  get #met(): number {
    return this.#now.met + (this.#now.isResumed ? this.#metBefore : 0);
  }

  /** Readings beyond the second, which an unmoved list needs as well. */
  get restarts(): number {
    return Math.max(0, this.#count - 2);
  }

  /** A page that was requested early was no good any more: the list has moved, whatever a later answer counts. */
  noteDropped(): void {
    this.#now.isParallel = true;
    if (this.#totals !== undefined) this.#totals = { ...this.#totals, isStable: false };
  }

  noteParallel(): void {
    this.#now.isParallel = true;
  }

  /** An answer without a page. */
  noteRejection(): void {
    this.#now.answers += 1;
  }

  beginPage(): void {
    this.#page = newTally();
  }

  /**
   * Adds records of a page, and counts. A record without an id is kept unless the list is read again. `isRetry`: some of them
   * may have come in an answer that broke off.
   */
  add(leads: readonly ScannedRecord[], isRetry = false): PageTally {
    const tally = this.#page;
    const { isFirst } = this;
    const hashes = this.#seen.hashes(leads);
    const unidentified = this.#unidentified.size;
    for (let i = 0; i < leads.length; i += 1) {
      const lead = leads[i] as ScannedRecord;
      const before = this.#whole.length === 0 ? undefined : this.#readingOf(lead);
      const result = this.#meet(lead, hashes[i] as number);
      tally.hash = (Math.imul(tally.hash, 31) + ((hashes[i] as number) || textHash(lead))) | 0;
      tally.count += 1;
      if (result === 'repeat' && isRetry) continue;
      if (result === 'repeat') {
        tally.repeated += 1;
        if (tally.leadingKnown === tally.count - 1) tally.leadingKnown += 1;
        continue;
      }
      if (tally.leadingFresh === tally.count - 1) tally.leadingFresh += 1;
      tally.fresh += 1;
      if (before !== undefined) before.metAgain += 1;
      if (result === 'new' || this.#now.pass === this.#firstPass) this.#union += 1;
      if (lead.hasId && (result === 'new' || isFirst)) tally.bringsNew = true;
      if (result !== 'new') continue;
      tally.kept.push(lead);
      if (!lead.hasId) tally.withoutId += 1;
    }
    if (this.#unidentified.size > unidentified) tally.bringsNew = true;
    tally.identified += leads.reduce((count, lead) => count + (lead.hasId ? 1 : 0), 0);
    return tally;
  }

  /** The reading before this one that met a lead last. */
  #readingOf({ hasId, id }: ScannedRecord): Reading | undefined {
    const pass = hasId ? this.#seen.passOf(id ?? '') : undefined;
    return this.#whole.find((reading) => reading.pass === pass);
  }

  #meet(lead: ScannedRecord, hash: number): AddResult {
    if (lead.hasPlainId) return this.#seen.addBytes(lead.source, lead.idStart, lead.idEnd, hash);
    if (lead.hasId) return this.#seen.add(lead.id ?? '');
    return this.#unidentified.isNew(lead) ? 'new' : 'earlier';
  }

  /** Whether records without an id are those of the page before, in order. */
  isSamePage({ identified, count, hash }: PageTally): boolean {
    const isSame = count > 0 && identified === 0 && hash === this.#lastHash;
    this.#lastHash = hash;
    return isSame;
  }

  /** Whether this reading has met a lead. */
  isMet({ id }: { readonly id: string | undefined }): boolean {
    return id !== undefined && this.#seen.isMetSince(id, this.#now.pass);
  }

  /** What an answer counts, also where its records are not taken. */
  noteTotal({ hints: { total }, facts: { count } }: PageAnswer): void {
    if (total !== undefined) {
      this.#firstTotal ??= total;
      const { first, isStable } = this.#totals ?? { first: total, isStable: true };
      this.#totals = { first, last: total, isStable: isStable && first === total };
    } else if (count > 0 && this.#totals !== undefined) this.#totals = { ...this.#totals, isStable: false };
  }

  /** Records were inserted before what was read, and it is not known which: the start of the list may show them. */
  get isLookDue(): boolean {
    const { inserted, shown, isResumed } = this.#now;
    return inserted > shown && !isResumed && this.#front !== undefined;
  }

  /** The start of the list was read again: what was inserted stands there, and the list goes on as it did, or it is not known. */
  endLook(answer: PageAnswer): void {
    const { head, leadingFresh, fresh } = answer;
    const now = this.#now;
    this.noteTotal(answer);
    now.shown += leadingFresh;
    now.met += fresh;
    const isExplained = now.shown >= now.inserted && isSame(head[leadingFresh], this.#front);
    this.#front = head[0];
    if (isExplained) return;
    now.repeats += now.inserted;
    now.isLookUseless = true;
    now.inserted = 0;
  }

  /** The page is whole. Gives how many of its records the service sent again. */
  endPage(answer: PageAnswer, movement: Movement): number {
    const now = this.#now;
    this.noteTotal(answer);
    const { fresh, leadingKnown, repeated, count, hash } = this.#page;
    now.answers += 1;
    // The first page may be asked for once more, by its number.
    if (count === 0 || (answer.request.isProbe === true && fresh === 0)) return 0;
    if (now.pages === 0) this.#front = answer.head[0];
    now.pages += 1;
    now.met += fresh;
    now.added += this.#page.kept.length;
    now.hash = (Math.imul(now.hash, 31) + Math.imul(hash, 2 * now.answers + 1)) | 0;
    // A page of fixed places that brings as many others as each page before repeats records beside them: none was pushed.
    const isBeside = now.pages > 1 && fresh === now.pageLength && count > fresh;
    if (now.pages === 1) now.pageLength = count;
    else if (!isBeside && count !== now.pageLength) now.pageLength = undefined;
    const isPushed =
      leadingKnown > 0 &&
      !isBeside &&
      isSame(answer.head[leadingKnown - 1], this.#tail.at(-1)) &&
      isSame(answer.head[0], this.#tail.at(-leadingKnown));
    if (isPushed && movement === 'counted' && !now.isLookUseless) now.inserted += leadingKnown;
    // Pages that overlap bring known records by themselves.
    const isOverlap = movement === 'overlapped' || answer.request.position.style === 'before';
    const isExpected = isOverlap || (isPushed && !now.isLookUseless);
    const repeats = repeated - (isExpected ? leadingKnown : 0);
    now.repeats += repeats;
    if (isBeside) now.repeatsBeside += repeats;
    this.#tail = answer.tail;
    return isOverlap ? repeats : repeated;
  }

  /** What follows from a step of the pager, of which a reading that the one before confirms has no need. */
  judge(step: Step, movement: Movement): Step | 'again' {
    const [now, before] = [this.#now, this.#whole.at(-1)];
    if (step.kind === 'page' && before !== undefined && movement === 'counted' && this.#isSame(now, before))
      return this.#evidence;
    if (step.kind !== 'complete' || movement !== 'counted') return step;
    if (now.answers < 2 && before === undefined && !now.isResumed) return step;
    if (this.#isTotalMet || this.contraryTotal(false) !== undefined) return step;
    if (
      before !== undefined &&
      !this.#isCountedMore &&
      (this.#isSame(now, before) || this.#whole.some(isProven))
    )
      return step;
    this.#evidence = step;
    return 'again';
  }

  /** Readings before this one met leads that it has not met: these are elsewhere in the list, or gone. */
  get isShortOfOthers(): boolean {
    return this.#union > this.#now.met;
  }

  /** The first total was larger than all leads that the readings met: one may have been passed over in each of them. */
  get #isCountedMore(): boolean {
    return (this.#firstTotal ?? 0) > this.#metBefore + this.#union;
  }

  #isSame(now: Reading, before: Reading): boolean {
    // A count that changes in both shows that the list did, too.
    const isUnmoved = this.#totals?.isStable !== false;
    return isUnmoved && now.pages === before.pages && now.hash === before.hash;
  }

  get #isTotalMet(): boolean {
    return this.#totals?.isStable === true && this.#totals.first === this.#different;
  }

  /** Leads of this reading that were not known before the walk. */
  get added(): number {
    return this.#now.added;
  }

  /** The service counts more leads than it gave. */
  contraryTotal(isFinal: boolean): Unproven | undefined {
    if (this.#totals === undefined || (this.#now.isResumed && (!isFinal || !this.#hasTotalsBefore)))
      return undefined;
    const { first, last, isStable } = this.#totals;
    const met = Math.max(this.#met, isFinal ? this.#metBefore : 0);
    if (last === 0 && met < first) return unproven({ kind: 'total-vanished' });
    const total = Math.min(first, last);
    // Some count a record as often as they give it.
    if (met + this.#now.repeats >= total) return undefined;
    // Where leads came again, others may be missing because the list moved.
    if (!isFinal && (!isStable || this.#now.repeats + this.#now.inserted > 0)) return undefined;
    return unproven({ kind: 'total-not-met', total, met });
  }

  /**
   * Begins another reading; false where the list moved in all of them. `isRestart`: the reading so far was none; `isWhole`:
   * it came to its end.
   */
  begin(isRestart: boolean, isWhole: boolean): boolean {
    const wasResumed = this.#now.isResumed;
    if (!isRestart && !wasResumed && this.#count >= mostReadings) return false;
    if (!isRestart && !wasResumed) this.#count += 1;
    if (isRestart || wasResumed) this.#whole.length = 0;
    else if (isWhole) this.#whole.push(this.#now);
    this.#seen.nextPass();
    this.#unidentified.nextPass();
    this.#now = newReading(this.#seen.pass, false);
    this.#totals = undefined;
    this.#tail = [];
    this.#front = undefined;
    return true;
  }
}

const newTally = (): PageTally => ({
  kept: [],
  count: 0,
  fresh: 0,
  leadingFresh: 0,
  leadingKnown: 0,
  repeated: 0,
  withoutId: 0,
  bringsNew: false,
  identified: 0,
  hash: 0,
});

const newReading = (pass: number, isResumed: boolean): Reading => ({
  pass,
  isResumed,
  pages: 0,
  answers: 0,
  met: 0,
  added: 0,
  metAgain: 0,
  pageLength: 0,
  repeats: 0,
  repeatsBeside: 0,
  inserted: 0,
  shown: 0,
  isLookUseless: false,
  hash: 0,
  isParallel: false,
});

/**
 * Whether all that a reading met was met after it, and no record came twice in it: then none had gone from what was read,
 * and none was inserted there but those that stand at the start of the list.
 */
const isProven = ({ isParallel, repeats, repeatsBeside, inserted, shown, metAgain, met }: Reading): boolean =>
  !isParallel && repeats === repeatsBeside && inserted <= shown && metAgain === met;

/** Of a record whose id is no plain text, or that has none. */
function textHash(lead: ScannedRecord): number {
  const text = lead.hasId ? (lead.id ?? '') : Buffer.from(lead.bytes).toString('latin1');
  let hash = 7;
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
