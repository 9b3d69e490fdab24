import type { IdSet } from '../../lead/id-set.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { ListingStats } from './listing.ts';
import type { Position } from '../pagination/position.ts';
import type { LeadQuery } from './lead-query.ts';

/** After so many steps back, a list that never stops moving is read on, and the summary says so. */
const mostStepsBack = 50;

/**
 * Sees to it that a page continues where the one before it ended, since records that are deleted while a list is read
 * move the others forward, over the border of a page that was read. An offset walk overlaps by one record: as long as
 * a page begins with a record that is known, nothing lies between. If not, the walk steps back until it does.
 */
export class DriftDetector {
  readonly #seen: IdSet;
  readonly #stats: ListingStats;
  readonly #firstPage: number;
  /** The page that is read again when a page walk is resumed. */
  #resumed: Position | undefined;
  #back = 0;
  #longest = 0;
  #stepsBack = 0;
  #shrank = false;
  #firstTotal: number | undefined;

  constructor(seen: IdSet, stats: ListingStats, firstPage: number) {
    this.#seen = seen;
    this.#stats = stats;
    this.#firstPage = firstPage;
  }

  /** Where a walk really begins: a page walk reads the page before its position again. */
  begin(from: Position): Position {
    if (from.style !== 'page' || from.after === undefined || from.page <= this.#firstPage) return from;
    this.#resumed = { ...from, page: from.page - 1 };
    return this.#resumed;
  }

  /** Whether records may lie between this page and what was read before. Asked before its ids are met. */
  lost(at: Position, leads: readonly ScannedRecord[]): boolean {
    if (this.#isStart(at) || !this.#isChecked(at) || this.#stepsBack >= mostStepsBack) return false;
    const first = leads[0];
    const after = at.style === 'offset' || at.style === 'page' ? at.after : undefined;
    if (first === undefined) return true;
    if (at.style === 'page' && leads.some((lead) => lead.id === after)) return false;
    const { id } = first;
    return id !== undefined && id !== after && !this.#seen.has(id);
  }

  /** A position further in front, twice as far each time, down to the first. */
  stepBack(at: Position): Position {
    this.#stats.restarts += 1;
    this.#stepsBack += 1;
    if (this.#stepsBack >= mostStepsBack) this.#stats.shifted = true;
    this.#back = this.#back === 0 ? 1 : this.#back * 2;
    if (at.style === 'page') {
      this.#resumed = { ...at, page: Math.max(this.#firstPage, at.page - this.#back) };
      return this.#resumed;
    }
    if (at.style !== 'offset') return at;
    return { ...at, offset: Math.max(0, at.offset - this.#back * Math.max(100, this.#longest)) };
  }

  /** The records of a page that are to be looked at: those behind the record that a resumed page walk ended with. */
  after(at: Position, leads: readonly ScannedRecord[]): readonly ScannedRecord[] {
    this.#longest = Math.max(this.#longest, leads.length);
    this.#back = 0;
    if (at.style === 'offset' && at.after !== undefined && leads[0]?.id === at.after) return leads.slice(1);
    if (at !== this.#resumed || at.style !== 'page') return leads;
    this.#resumed = undefined;
    return leads.slice(leads.findIndex((lead) => lead.id === at.after) + 1);
  }

  /** A total that falls means that records were deleted while the list was read. */
  hear(total: number | undefined): void {
    if (total === undefined) return;
    if (this.#stats.total !== undefined && total < this.#stats.total) this.#shrank = true;
    this.#stats.total = total;
    this.#firstTotal ??= total;
  }

  /** How many leads were there all the time, as the totals say: later ones in front are no loss. */
  atLeast(total: number): number {
    return Math.min(total, this.#firstTotal ?? total);
  }

  /**
   * Other walks than by offset cannot see what moved over the border of a page. A total that fell, or that was larger
   * at the beginning than what was met although nothing was filtered, tells that something may be missing: leads that
   * arrive in front of the walk are a later walk's.
   */
  judge(query: LeadQuery, last: Position, walked: number | undefined): void {
    const total = this.#firstTotal;
    if (last.style === 'offset' || total === undefined) return;
    const filtered = query.status !== undefined || (query.categories ?? []).length > 0;
    const missing = walked !== undefined && walked < total && !filtered;
    if (missing || (this.#shrank && last.style !== 'cursor')) this.#stats.shifted = true;
  }

  #isStart(at: Position): boolean {
    return at.style === 'offset' ? at.offset === 0 : at.style === 'page' ? at.page === this.#firstPage : true;
  }

  #isChecked(at: Position): boolean {
    return at === this.#resumed || (at.style === 'offset' && at.after !== undefined);
  }
}
