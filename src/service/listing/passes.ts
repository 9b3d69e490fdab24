import type { ScannedRecord } from '../../json/scanner.ts';
import type { AddResult, IdSet, Unidentified } from '../../lead/id-set.ts';
import type { PlacesCovered } from '../pagination/pagination-hints.ts';
import type { TotalsSoFar } from '../pagination/position.ts';

/** Why the list is read: once; again with every border checked; its front, for what moved there. */
export type Pass = 'first' | 'again' | 'front';

/** A front that is new at each reading is one where leads keep arriving: those are left to a later walk. */
const mostFronts = 6;
const mostPasses = 4;

/** The passes of one walk over the list, and the new leads that each brought. */
export class Passes implements RecordOrder {
  current: Pass = 'first';
  since: number | undefined;
  #count = 1;
  #fronts = 0;
  /** New leads of the last reading of the front, and of all of them in this pass. */
  #frontNews = 0;
  #allFrontNews = 0;
  /** New leads between known ones: they had been passed over, or they moved. Those that arrive stand at an end. */
  #newsBetween = 0;
  #newsBehind = 0;
  #hasMetKnown = false;
  #gapsBefore = 0;

  begin(pass: Exclude<Pass, 'first'>, gaps: number, since: number): void {
    this.since = since;
    this.current = pass;
    this.#frontNews = 0;
    this.#hasMetKnown = false;
    this.#newsBehind = 0;
    if (pass === 'front') {
      this.#fronts += 1;
      return;
    }
    this.#count += 1;
    this.#fronts = 0;
    this.#allFrontNews = 0;
    this.#newsBetween = 0;
    this.#gapsBefore = gaps;
  }

  noteNew(): void {
    if (this.#hasMetKnown) this.#newsBehind += 1;
    if (this.current !== 'front') return;
    this.#frontNews += 1;
    this.#allFrontNews += 1;
  }

  noteKnown(): void {
    // The leads of an earlier export are known, too: in the first pass they stand anywhere.
    if (this.current === 'first') return;
    this.#newsBetween += this.#newsBehind;
    this.#newsBehind = 0;
    this.#hasMetKnown = true;
  }

  /** What was new at the end of the pages so far comes again, as known. */
  noteStepBack(): void {
    this.#newsBehind = 0;
    this.#hasMetKnown = false;
  }

  get isFirst(): boolean {
    return this.#count === 1;
  }

  /** A lead may have moved over a part of the front that was read: a front with new leads is read again. */
  get isFrontRead(): boolean {
    return this.current === 'front' && (this.#frontNews === 0 || this.#fronts >= mostFronts);
  }

  /** It was read whole, and is read again for what arrived. */
  get isFrontReadAgain(): boolean {
    return this.current === 'front' && this.#fronts > 1;
  }

  /**
   * Records went from what was read, and leads stand at the front that were not met; or these stand behind known ones,
   * so that those have moved: a lead may have moved more than once, past every page that was read. Only a pass in which
   * nothing moved settles it; leads may arrive in it. Where records stood further back, and none arrived at the front, one
   * may have moved from behind to the middle of what was read.
   */
  needsAnotherPass(gaps: number, hasSeldomShifted: boolean): boolean {
    const hasGaps = gaps > this.#gapsBefore;
    return (
      this.#newsBetween > 0 ||
      (hasGaps && (!this.isFirst || this.#allFrontNews > 0)) ||
      (this.isFirst && hasSeldomShifted && this.#allFrontNews === 0)
    );
  }

  get isOver(): boolean {
    return this.#count >= mostPasses;
  }
}

/** What the records of one page, or of a part of it, turned out to be. */
export interface PageTally {
  /** Records with a usable id. */
  readonly identified: number;
  /** Of these, met for the first time in this pass. */
  readonly fresh: number;
  /** Of the fresh ones, known from an earlier pass, or from the run that is resumed. */
  readonly earlier: number;
  /** Met before in this pass. */
  readonly repeated: number;
  /** Records without one. */
  readonly withoutId: number;
}

export const noRecords: PageTally = { identified: 0, fresh: 0, earlier: 0, repeated: 0, withoutId: 0 };

/** Learns in which order a reading of the list meets new and known records. */
interface RecordOrder {
  /** The pass of the ids with which this reading of the list began; undefined where the order does not matter. */
  readonly since: number | undefined;
  noteNew(): void;
  /** Known from an earlier pass, or from the run that is resumed. */
  noteKnown(): void;
}

/** Keeps what was not met before, and counts. A record without an id is kept unless the list is read again. */
export function dropKnown(
  leads: readonly ScannedRecord[],
  seen: IdSet,
  unidentified: Unidentified,
  order: RecordOrder,
): {
  readonly kept: ScannedRecord[];
  readonly tally: PageTally;
  readonly newWithoutId: number;
  /** Indexes of what was met before in this pass. */ readonly repeats: readonly number[];
} {
  const kept: ScannedRecord[] = [];
  const repeats: number[] = [];
  let [identified, fresh, earlier, withoutId, newWithoutId] = [0, 0, 0, 0, 0];
  const hashes = seen.hashes(leads);
  for (const [i, lead] of leads.entries()) {
    const isRead = order.since !== undefined && lead.hasId && seen.isMetSince(lead.id ?? '', order.since);
    const meeting = meet(lead, seen, hashes[i]);
    if (meeting === undefined) {
      withoutId += 1;
      if (!unidentified.isNew(lead)) continue;
      kept.push(lead);
      order.noteNew();
      newWithoutId += 1;
      continue;
    }
    identified += 1;
    if (meeting === 'repeat') repeats.push(identified + withoutId - 1);
    else fresh += 1;
    if (meeting === 'earlier') {
      earlier += 1;
      if (!isRead) order.noteKnown();
    }
    if (meeting !== 'new') continue;
    kept.push(lead);
    order.noteNew();
  }
  const tally = { identified, fresh, earlier, repeated: repeats.length, withoutId };
  return { kept, tally, newWithoutId, repeats };
}

/** The counts of a page's parts together. */
export const addTallies = (a: PageTally, b: PageTally): PageTally => ({
  identified: a.identified + b.identified,
  fresh: a.fresh + b.fresh,
  earlier: a.earlier + b.earlier,
  repeated: a.repeated + b.repeated,
  withoutId: a.withoutId + b.withoutId,
});

function meet(lead: ScannedRecord, seen: IdSet, hash: number | undefined): AddResult | undefined {
  if (lead.hasPlainId) return seen.addBytes(lead.source, lead.idStart, lead.idEnd, hash);
  return lead.hasId ? seen.add(lead.id ?? '') : undefined;
}

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
  /** Whether any did: the service repeats some by itself. */
  hasOutOfPlace = false;
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
    this.hasOutOfPlace ||= outOfPlace > 0;
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

/** A count of leads that no total equals, however many are added. */
const lost = Number.MIN_SAFE_INTEGER;

/** What the pages of one pass over the list say of its total, and the different leads that were met. */
export interface Totals {
  /** Different leads met in this pass, from where it began on; undefined when it was read again in part. */
  readonly met: number | undefined;
  /** Different leads met in all passes, as far as they were new to the walk. */
  readonly metInAll: number;
  /** Records that the first page held twice: some totals count them. */
  readonly repeated: number;
  /** Leads in all, as the first page and the last one say. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly hasFallen: boolean;
  /** When the first page came, by the service's clock: milliseconds since the epoch. */
  readonly began: number | undefined;
  /** One arrived behind the pages that were read: another may have gone without a change of the total. */
  readonly hasArrivals: boolean;
  /** Leads that the run before had met were counted by it. */
  readonly isResumed: boolean;
}

export const totalsFrom = (soFar?: TotalsSoFar): Totals => ({
  met: soFar?.met ?? 0,
  metInAll: 0,
  repeated: 0,
  first: soFar?.first,
  last: soFar?.last,
  hasFallen: false,
  began: soFar?.began,
  hasArrivals: false,
  isResumed: soFar !== undefined,
});

interface CountedPage {
  readonly tally: PageTally;
  readonly isFirst: boolean;
  /** As the answer says. */
  readonly total: number | undefined;
  /** When it was answered, and when its last lead was created, if it says so: milliseconds since the epoch. */
  readonly answeredAt: number;
  readonly createdAt: number | undefined;
}

/** The totals with one page more. */
export function countPage(before: Totals, page: CountedPage): Totals {
  const { fresh, earlier, withoutId, repeated } = page.tally;
  const { total = before.last } = page;
  const began = before.began ?? page.answeredAt;
  const added = fresh + withoutId - (before.isResumed ? earlier : 0);
  return {
    ...before,
    met: before.met === undefined ? undefined : before.met + added,
    metInAll: before.metInAll + fresh - earlier,
    repeated: page.isFirst ? repeated : before.repeated,
    first: before.first ?? total,
    last: total,
    hasFallen: before.hasFallen || (total ?? 0) < (before.last ?? 0),
    began,
    hasArrivals: before.hasArrivals || (page.createdAt !== undefined && page.createdAt >= began),
  };
}

/**
 * The cheap proof that nothing moved over the border of a page: the total never fell, was met exactly, and no lead
 * arrived that could fill the place of one that was passed over.
 */
export function isSettled({ met, repeated, first, last, hasFallen, hasArrivals }: Totals): boolean {
  if (met === undefined || hasFallen || hasArrivals) return false;
  return [met, met + repeated].some((count) => count === first || count === last);
}

/** Settled, and the total was the same all the time: where it grew, a lead may have moved to the front unread. */
export const isUnchanged = (totals: Totals): boolean => isSettled(totals) && totals.first === totals.last;

/**
 * For a position that a later walk goes on from. With `isNumbered`, one whose count is lost says so: the borders that
 * were left to the totals are then to be checked by that walk.
 */
export function totalsSoFar(totals: Totals, isNumbered: boolean): TotalsSoFar | undefined {
  const { met, first, last, began } = totals;
  if (first === undefined || last === undefined) return undefined;
  const isLost = met === undefined || totals.hasFallen || totals.hasArrivals;
  if (isLost && !isNumbered) return undefined;
  return { met: isLost ? lost : met, first, last, began };
}

/**
 * Compares one reading of a numbered list with the reading before it. Where all leads that the earlier one met are met
 * again, none of them had gone when a later page was read: as many as counted stood in front of it, and it passed over
 * none. That holds where no two pages show in one answer how they join, and whatever came and went meanwhile.
 */
export class ComparedReadings {
  readonly #seen: IdSet;
  /** The passes of `seen` with which this reading and the one before it began. */
  #start: number;
  #startBefore: number | undefined;
  /** Leads met in this reading and in the front that was read behind it. */
  #count = 0;
  #countBefore = 0;
  /** Of those, met in the reading before as well. */
  #again = 0;

  /** A resumed walk also answers for what the run before it has met. */
  constructor(seen: IdSet, isResumed: boolean) {
    this.#seen = seen;
    this.#start = isResumed ? 0 : seen.pass;
    this.#count = isResumed ? seen.size : 0;
  }

  /** The list is read from its front once more, as a new pass of `seen`. */
  begin(): void {
    this.#startBefore = this.#start;
    this.#countBefore = this.#count;
    this.#start = this.#seen.pass;
    this.#count = 0;
    this.#again = 0;
  }

  /** To be called before the records are added to `seen`. */
  note(records: readonly ScannedRecord[]): void {
    const ids = new Set<string>();
    for (const { id, hasId } of records) {
      if (!hasId || id === undefined || ids.has(id) || this.#seen.isMetSince(id, this.#start)) continue;
      ids.add(id);
      this.#count += 1;
      if (this.#startBefore !== undefined && this.#seen.isMetSince(id, this.#startBefore)) this.#again += 1;
    }
  }

  get meetsAllAgain(): boolean {
    return this.#startBefore !== undefined && this.#again === this.#countBefore;
  }
}
