import type { ScannedRecord } from '../../../json/scanned-record.ts';
import type { IdSet } from '../../../lead/id-set.ts';
import { numberOf, withNumber } from '../../pagination/position-number.ts';
import { afterOf, keyOf, type Position } from '../../pagination/position.ts';
import { type Border, BorderCheck } from './border-check.ts';
import { Front } from './front.ts';
import { StepsBack } from './steps-back.ts';
import type { Peek } from '../fetch/peek.ts';

/**
 * Makes sure that a page continues where the one before it ended: records that vanish or move while a list is read
 * move the others forward, over the border of a page that was read. Offsets overlap by one record; the borders of
 * numbered pages are checked, unless the total of the list is to settle it. If records may lie between, the walk steps
 * back until a page begins with a known record. Positions that only the service understands are left to the service.
 */
export class Continuity {
  readonly #seen: IdSet;
  readonly #check: BorderCheck;
  readonly #isEarly: (position: Position) => boolean;
  readonly #firstPage: number;
  /** Where the list begins. */
  readonly front = new Front();
  readonly steps = new StepsBack();
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
  #isResumed = false;
  /** Keys of the positions in front of which the list was read once more. */
  readonly #reread = new Set<string>();
  /** The pass of `seen` with which the list was last started; 0 where a resumed walk goes on with what was read before. */
  #passStart: number;

  /** `isEarly` is whether a page was requested before the page in front of it was read. */
  constructor(seen: IdSet, peek: Peek, firstPage: number, isEarly: (position: Position) => boolean) {
    this.#seen = seen;
    this.#isEarly = isEarly;
    this.#passStart = seen.pass;
    this.#check = new BorderCheck(this.#isRead, peek);
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

  /** Whether pages that are requested early are of use: their borders can be checked afterwards. */
  get canReadAhead(): boolean {
    return !this.verifies || this.#check.isSmallSizeHonoured !== false;
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
  beginPass(isFrontAlone: boolean): void {
    this.#passStart = this.#seen.pass;
    this.front.beginReading(isFrontAlone);
    this.hasShifted = false;
    this.#isResumed = false;
    this.verifies = true;
    this.unchecked = 0;
    this.steps.reset();
    this.#readAgain = undefined;
  }

  /** Whether anything lies between this page and what was read before. To be called before its ids are met. */
  async borderOf(
    position: Position,
    leads: readonly ScannedRecord[],
    size: number | undefined,
  ): Promise<Border> {
    const number = numberOf(position);
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
    const after = afterOf(position);
    const first = leads[0];
    const isFirstRead = first?.id !== undefined && this.#isRead(first.id);
    if (position === this.#readAgain) {
      if (this.#isResumed && leads.at(-1)?.id !== after) this.hasShifted = true;
      if (this.#isResumed && leads.some((lead) => lead.id === after)) return 'joined';
      return isFirstRead || (first !== undefined && first.id === undefined) ? 'joined' : 'known';
    }
    if (after === undefined) return 'joined';
    const at = leads.findIndex((lead) => lead.id === after);
    if (at > 0 || (at === 0 && number.kind === 'page')) this.hasShifted = true;
    // Leads that arrive in front push the last one that was read along with the others.
    const areAllRead = this.#areRead(leads);
    if (at < 0 && !areAllRead && leads.some(this.#isLeadRead)) this.hasMovedBack = true;
    // At the end of the list, known leads alone behind it, where none arrived in front: it may have moved to the end with them.
    const isLast = leads.length > (number.kind === 'offset' ? 1 : 0) && leads.length < this.#longest;
    if (at === 0 && isLast && areAllRead && this.mayReread(position)) return 'known';
    if (at >= 0 && this.#areRead(leads.slice(0, at))) return 'joined';
    if (number.kind === 'offset') return isFirstRead ? 'known' : 'gap';
    if (first !== undefined && first.id === undefined) return 'joined';
    if (!this.verifies) {
      this.unchecked += 1;
      return 'joined';
    }
    // Known leads alone, where none arrived in front, have moved to the end: the one in front of them may have, too.
    const isMixed = leads.length > 0 && areAllRead;
    return this.#check.look(position, first?.id, {
      firstNumber: this.#firstNumber ?? this.#firstPage,
      length: isMixed || this.#length === 'mixed' ? undefined : this.#length,
      before: this.#lastLength,
      size,
      isEarly: this.#isEarly(position),
    });
  }

  /** Whether what stands in front of a page is to be read once more: only once for each position. */
  mayReread(position: Position): boolean {
    const key = keyOf(position);
    if (numberOf(position) === undefined || this.#reread.has(key)) return false;
    this.#reread.add(key);
    return true;
  }

  /** A position further in front, twice as far each time, down to the first. */
  stepBack(position: Position, border: Border): Position {
    const back = this.steps.add(border);
    this.hasShifted = true;
    this.#isResumed = false;
    const number = numberOf(position);
    if (number === undefined) return position;
    const step = number.kind === 'page' ? back : back * Math.max(100, this.#longest);
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
    this.steps.reset();
    const after = afterOf(position);
    if (numberOf(position)?.kind === 'offset' && after !== undefined && leads[0]?.id === after)
      return leads.slice(1);
    if (position !== this.#readAgain) return leads;
    this.#readAgain = undefined;
    return this.#isResumed ? leads.slice(leads.findIndex((lead) => lead.id === after) + 1) : leads;
  }

  /** Probes have found what follows the first page; `verifies` is whether every border is checked. */
  noteFirst(count: number, verifies: boolean): void {
    this.notePageLength(count);
    this.verifies = verifies;
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
