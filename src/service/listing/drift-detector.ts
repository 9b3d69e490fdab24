import type { IdSet } from '../../lead/id-set.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { Position } from '../pagination/position.ts';
import type { LeadQuery } from './lead-query.ts';

/** After so many steps back, a list that never stops moving is read on, and the summary says so. */
const mostStepsBack = 50;

/**
 * Checks that a page continues where the one before it ended: records that are deleted while a list is read move the
 * others forward, over the border of a page that was read. An offset walk overlaps by one record: as long as
 * a page begins with a record that is known, nothing lies between. If not, the walk steps back until it does.
 */
export class DriftDetector {
  readonly #seen: IdSet;
  readonly #firstPage: number;
  /** The page that is read again when a page walk is resumed. */
  #resumed: Position | undefined;
  /** Steps back so far. */
  restarts = 0;
  /** Records may have been missed. */
  shifted = false;
  /** Number of matching leads, as the last answer that says so does. */
  total: number | undefined;
  #back = 0;
  #longest = 0;
  #shrank = false;
  #firstTotal: number | undefined;

  constructor(seen: IdSet, firstPage: number) {
    this.#seen = seen;
    this.#firstPage = firstPage;
  }

  /** Where a walk really begins: a page walk reads the page before its position again. */
  startAt(from: Position): Position {
    if (from.style !== 'page' || from.after === undefined || from.page <= this.#firstPage) return from;
    this.#resumed = { ...from, page: from.page - 1 };
    return this.#resumed;
  }

  /** Whether records may lie between this page and what was read before. To be called before its ids are met. */
  missesRecords(position: Position, leads: readonly ScannedRecord[]): boolean {
    if (this.#isStart(position) || !this.#isChecked(position) || this.restarts >= mostStepsBack) return false;
    const first = leads[0];
    const after = position.style === 'offset' || position.style === 'page' ? position.after : undefined;
    if (first === undefined) return true;
    if (position.style === 'page' && leads.some((lead) => lead.id === after)) return false;
    const { id } = first;
    return id !== undefined && id !== after && !this.#seen.has(id);
  }

  /** A position further in front, twice as far each time, down to the first. */
  stepBack(position: Position): Position {
    this.restarts += 1;
    if (this.restarts >= mostStepsBack) this.shifted = true;
    this.#back = this.#back === 0 ? 1 : this.#back * 2;
    if (position.style === 'page') {
      this.#resumed = { ...position, page: Math.max(this.#firstPage, position.page - this.#back) };
      return this.#resumed;
    }
    if (position.style !== 'offset') return position;
    return { ...position, offset: Math.max(0, position.offset - this.#back * Math.max(100, this.#longest)) };
  }

  /** The records of a page that are to be looked at: those behind the record that a resumed page walk ended with. */
  unreadOf(position: Position, leads: readonly ScannedRecord[]): readonly ScannedRecord[] {
    this.#longest = Math.max(this.#longest, leads.length);
    this.#back = 0;
    if (position.style === 'offset' && position.after !== undefined && leads[0]?.id === position.after)
      return leads.slice(1);
    if (position !== this.#resumed || position.style !== 'page') return leads;
    this.#resumed = undefined;
    return leads.slice(leads.findIndex((lead) => lead.id === position.after) + 1);
  }

  /** A total that falls means that records were deleted while the list was read. */
  noteTotal(total: number | undefined): void {
    if (total === undefined) return;
    if (this.total !== undefined && total < this.total) this.#shrank = true;
    this.total = total;
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
  judgeEnd(query: LeadQuery, last: Position, walked: number | undefined): void {
    const total = this.#firstTotal;
    if (last.style === 'offset' || total === undefined) return;
    const filtered = query.status !== undefined || (query.categories ?? []).length > 0;
    const missing = walked !== undefined && walked < total && !filtered;
    if (missing || (this.#shrank && last.style !== 'cursor')) this.shifted = true;
  }

  #isStart(position: Position): boolean {
    return position.style === 'offset'
      ? position.offset === 0
      : position.style === 'page'
        ? position.page === this.#firstPage
        : true;
  }

  #isChecked(position: Position): boolean {
    return position === this.#resumed || (position.style === 'offset' && position.after !== undefined);
  }
}
