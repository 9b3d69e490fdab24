import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { AddResult, IdSet, Unidentified } from '../../lead/id-set.ts';

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
   * nothing moved settles it; leads may arrive in it.
   */
  needsAnotherPass(gaps: number): boolean {
    const hasGaps = gaps > this.#gapsBefore;
    return this.#newsBetween > 0 || (hasGaps && (!this.isFirst || this.#allFrontNews > 0));
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
  for (const lead of leads) {
    const isRead = order.since !== undefined && lead.hasId && seen.isMetSince(lead.id ?? '', order.since);
    const meeting = meet(lead, seen);
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

function meet(lead: ScannedRecord, seen: IdSet): AddResult | undefined {
  if (lead.hasPlainId) return seen.addBytes(lead.source, lead.idStart, lead.idEnd);
  return lead.hasId ? seen.add(lead.id ?? '') : undefined;
}
