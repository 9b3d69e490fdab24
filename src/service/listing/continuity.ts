import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { IdSet } from '../../lead/id-set.ts';
import { numberOf, withNumber } from '../pagination/position-number.ts';
import { afterOf, type Position } from '../pagination/position.ts';
import { BorderCheck } from './border-check.ts';
import type { Peek } from './fetch/peek.ts';

/** After so many steps back that led to no new lead, a list that never stops moving is read on: it stays unproven. */
const mostVainSteps = 50;
const mostStepsBack = 1000;
/** Ids that are kept of the first page. */
const frontLength = 1000;

/**
 * Sees to it that a page continues where the one before it ended: records that vanish or move while a list is read
 * move the others forward, over the border of a page that was read. Offsets overlap by one record; the borders of
 * numbered pages are checked, unless the total of the list is to settle it. If records may lie between, the walk steps
 * back until a page begins with a known record. Positions that only the service understands are the service's to keep.
 */
export class Continuity {
  readonly #seen: IdSet;
  readonly #check: BorderCheck;
  readonly #firstPage: number;
  /** Whether every border is checked, instead of comparing totals at the end. */
  verifies = false;
  /** Steps back so far. */
  restarts = 0;
  /** Of these, because records went away in front. */
  gaps = 0;
  /** Borders of pages that were left to the totals. */
  unchecked = 0;
  #firstNumber: number | undefined;
  /** Ids of the first page, as the list began when the walk did. */
  #front = new Set<string>();
  #pageFromFront = 0;
  #pageLength = 0;
  #idleFront = 0;
  #length: number | 'mixed' | undefined;
  #longest = 0;
  #back = 0;
  #vainSteps = 0;
  #isGap = false;
  /** The page that is read again when a page walk is resumed, or after a step back. */
  #readAgain: Position | undefined;
  #isResumed = false;
  /** The pass of `seen` with which the list was last started; 0 where a resumed walk goes on with what was read before. */
  #passStart: number;

  constructor(seen: IdSet, peek: Peek, firstPage: number) {
    this.#seen = seen;
    this.#passStart = seen.pass;
    this.#check = new BorderCheck(this.#isRead, peek);
    this.#firstPage = firstPage;
  }

  /** Whether this pass over the list has met an id. What only an earlier one has met may lie behind a gap of this one. */
  readonly #isRead = (id: string): boolean => this.#seen.isMetSince(id, this.#passStart);

  get isExhausted(): boolean {
    return this.#vainSteps >= mostVainSteps || this.restarts >= mostStepsBack;
  }

  /** Where a walk really begins: a page walk reads the page before its position again. */
  startAt(from: Position): Position {
    if (from.style !== 'start') {
      this.#passStart = 0;
      // Borders before it were left to the totals, where there are any: they count as one.
      this.verifies = from.totals === undefined;
      this.unchecked = this.verifies ? 0 : 1;
    }
    const number = numberOf(from);
    if (number?.kind !== 'page' || afterOf(from) === undefined) return from;
    if (number.value <= this.#firstPage) return from;
    this.#isResumed = true;
    this.#firstNumber = this.#firstPage;
    this.#readAgain = withNumber(from, number.value - 1, afterOf(from));
    return this.#readAgain;
  }

  /** The list is read from its front once more, as a new pass of `seen`. */
  beginPass(verifies: boolean): void {
    this.#passStart = this.#seen.pass;
    this.#isResumed = false;
    this.verifies = verifies;
    this.unchecked = 0;
    this.#back = 0;
    this.#readAgain = undefined;
  }

  /** Whether nothing lies between this page and what was read before. To be called before its ids are met. */
  async connects(
    position: Position,
    leads: readonly ScannedRecord[],
    size: number | undefined,
  ): Promise<boolean> {
    const number = numberOf(position);
    if (number === undefined || this.isExhausted) return true;
    if (number.kind === 'page' && position !== this.#readAgain) this.#firstNumber ??= number.value - 1;
    // No lead in front, where some were: the service may take the parameter for a filter.
    if (this.#isFront(number.kind, number.value)) return leads.length > 0 || this.#seen.size === 0;
    const after = afterOf(position);
    const first = leads[0];
    if (position === this.#readAgain) {
      if (this.#isResumed && leads.some((lead) => lead.id === after)) return true;
      return first !== undefined && (first.id === undefined || this.#isRead(first.id));
    }
    if (after === undefined) return true;
    const at = leads.findIndex((lead) => lead.id === after);
    const isOverlapped =
      at >= 0 && leads.slice(0, at).every(({ id }) => id !== undefined && this.#isRead(id));
    if (isOverlapped) return true;
    if (number.kind === 'offset') {
      if (first?.id === undefined || !this.#isRead(first.id)) this.#noteGap();
      return false;
    }
    if (first !== undefined && first.id === undefined) return true;
    if (!this.verifies) {
      this.unchecked += 1;
      return true;
    }
    const border = await this.#check.look(position, first?.id, {
      firstNumber: this.#firstNumber ?? this.#firstPage,
      length: this.#length === 'mixed' ? undefined : this.#length,
      size,
    });
    if (border === 'gap') this.#noteGap();
    return border === 'joined';
  }

  /** A position further in front, twice as far each time, down to the first. */
  stepBack(position: Position): Position {
    this.restarts += 1;
    // Leads that only arrive come to an end.
    if (!this.isExhausted && this.#isGap) this.#vainSteps += 1;
    this.#isGap = false;
    this.#back = this.#back === 0 ? 1 : this.#back * 2;
    this.#isResumed = false;
    const number = numberOf(position);
    if (number === undefined) return position;
    const step = number.kind === 'page' ? this.#back : this.#back * Math.max(100, this.#longest);
    const value = number.value - step;
    const isFront = number.kind === 'page' ? value <= this.#frontNumber : value <= 0;
    if (isFront && (position.style === 'url' || position.style === 'cursor')) return { style: 'start' };
    // The record before it is unknown there: any known record at its beginning will do.
    const at = withNumber(
      position,
      isFront ? (number.kind === 'page' ? this.#frontNumber : 0) : value,
      afterOf(position),
    );
    this.#readAgain = at;
    return at;
  }

  /** The records of a page that are to be looked at: those behind the record that a resumed page walk ended with. */
  unreadOf(position: Position, leads: readonly ScannedRecord[]): readonly ScannedRecord[] {
    this.#longest = Math.max(this.#longest, leads.length);
    this.#back = 0;
    const after = afterOf(position);
    if (numberOf(position)?.kind === 'offset' && after !== undefined && leads[0]?.id === after)
      return leads.slice(1);
    if (position !== this.#readAgain) return leads;
    this.#readAgain = undefined;
    return this.#isResumed ? leads.slice(leads.findIndex((lead) => lead.id === after) + 1) : leads;
  }

  /** Remembers where the list begins, or holds a page against that. To be called with the first records of a page. */
  notePage(position: Position, leads: readonly ScannedRecord[]): void {
    const ids = leads.slice(0, frontLength).flatMap(({ id }) => (id === undefined ? [] : [id]));
    if (position.style === 'start' && this.#front.size === 0) this.#front = new Set(ids);
    this.#pageLength = ids.length;
    this.#pageFromFront = ids.filter((id) => this.#front.has(id)).length;
  }

  /**
   * Whether the front was read as far as leads may have moved there: to a page without a new lead that consists, for
   * the greater part, of what stood at the front before.
   */
  isOldFront(isIdle: boolean): boolean {
    this.#idleFront = isIdle ? this.#idleFront + 1 : 0;
    if (this.#front.size === 0) return this.#idleFront > 1;
    return isIdle && this.#pageFromFront * 2 > this.#pageLength;
  }

  /** A page brought a new lead. */
  noteProgress(): void {
    if (!this.isExhausted) this.#vainSteps = 0;
  }

  /** A page before the last one is complete. */
  notePageLength(count: number): void {
    if (this.#length !== undefined && this.#length !== count) this.#length = 'mixed';
    else this.#length = count;
  }

  #noteGap(): void {
    this.gaps += 1;
    this.#isGap = true;
  }

  get #frontNumber(): number {
    return this.#firstNumber ?? this.#firstPage;
  }

  #isFront(kind: 'page' | 'offset', value: number): boolean {
    return kind === 'offset' ? value === 0 : value <= this.#frontNumber;
  }
}
