import type { ScannedRecord } from '../../json/scanner.ts';
import { oldestOfNewestFirst, readCreatedAt } from '../../lead/raw-lead.ts';
import type { PageFacts } from '../pagination/pagination-hints.ts';
import { countOfPosition, type Position, withNumber } from '../pagination/position.ts';
import type { Peek } from './fetch-page.ts';

/** Pages from one page that is looked at to the next one; behind so many of them, as many as there are in front. */
const steps = [3, 16, 32] as const;
const mostSteps = 8;
/** A list without an end is left to looks at each border. */
const mostLooks = 32;

/**
 * Shows of many numbered pages at once that nothing was passed over at their borders, where leads arrive in front only.
 * Behind the first page some pages further on are looked at, up to the end of the list, and then all are read in order.
 * A lead that is deleted in front of a border moves the leads behind it forward, and only arrivals move them back, which
 * push known leads onto the next page. So when its turn comes, each page that was looked at has to begin with the same
 * lead, as many places further back as known leads were pushed; otherwise what was read since the one before is read again.
 * No deletion goes unseen between the first page and the looks, because that page has to come again behind the second. Once
 * more in front of the looks is not enough: where a lead is deleted before a look, another one arrives before the second
 * page is read, and a third is deleted later, each page begins as it did.
 */
export class PagesAhead {
  readonly #peek: Peek;
  readonly #isRead: (lead: ScannedRecord) => boolean;
  #isOpen: boolean;
  /** The leads that pages began with, by the numbers of these. */
  readonly #firsts = new Map<number, string>();
  /** Places by which known leads were pushed onto pages. */
  #pushed = 0;
  /** Behind the last page, and the answer that came there, if it was a page. */
  #end = Infinity;
  #behindEnd: PageFacts | undefined;
  /** The page up to which nothing was passed over. */
  #shownUpTo: Position | undefined;
  /** Pages counted as shown, in a list that is not sorted newest first after all. */
  isRefuted = false;
  /** When the first lead of the list was created, and the last one that was read; ms. */
  #newest: number | undefined;
  #oldest = Infinity;

  constructor(peek: Peek, isRead: (lead: ScannedRecord) => boolean, isOpen: boolean) {
    this.#peek = peek;
    this.#isRead = isRead;
    this.#isOpen = isOpen;
  }

  /** Whether no lead so far is newer than the one before it: what arrives then stands in front of the last one. */
  get isNewestFirst(): boolean {
    return this.#isOpen && this.#newest !== undefined && this.#oldest < this.#newest;
  }

  /** Whether pages were looked at, and nothing has moved since. */
  get isInUse(): boolean {
    return this.#isOpen && this.#shownUpTo !== undefined;
  }

  /** The page up to which nothing was passed over, where that is not known of what was read behind it. */
  get shownUpTo(): Position | undefined {
    return this.#firsts.size === 0 ? undefined : this.#shownUpTo;
  }

  /** The list is read from its front once more. */
  beginPass(): void {
    this.close();
    this.isRefuted = false;
  }

  /** From here on every border is looked at. Returns the page from which what was read is to be read again. */
  close(): Position | undefined {
    const { shownUpTo } = this;
    this.#isOpen = false;
    this.#firsts.clear();
    return shownUpTo;
  }

  /** To be called with the records of each page, in parts. */
  noteOrder(leads: readonly ScannedRecord[]): void {
    if (!this.#isOpen || leads.length === 0) return;
    this.#newest ??= readCreatedAt(leads[0]?.createdAt);
    const oldest = oldestOfNewestFirst(leads);
    if (oldest !== undefined && oldest <= this.#oldest) {
      this.#oldest = oldest;
      return;
    }
    // What was read since the last page that was looked at is read again, and the pages before it prove nothing, either.
    this.isRefuted ||= this.#shownUpTo !== undefined;
    this.#isOpen = false;
  }

  /** To be called before the second page is requested; the first one has so many records. */
  async look(second: Position, size: number | undefined, length: number): Promise<void> {
    let last = countOfPosition(second)?.value ?? 0;
    this.#shownUpTo = second;
    for (let looks = 0; looks < mostLooks && this.#end - last > 1; looks += 1) {
      const step = this.#firsts.size < mostSteps ? (steps[this.#firsts.size] ?? steps[2]) : last;
      const number = last + (last + step < this.#end ? step : Math.floor((this.#end - last) / 2));
      const found = await this.#peek(withNumber(second, number, undefined), size);
      const ids = found.kind === 'page' ? found.ids : [];
      if (ids.length < length) {
        const end = ids.length === 0 ? number : number + 1;
        // A short page may have others behind it, where nobody has asked for the next one.
        if (end < this.#end) this.#behindEnd = undefined;
        if (ids.length === 0 && found.kind === 'page') this.#behindEnd = found.facts;
        this.#end = end;
      }
      if (ids.length === 0) continue;
      const [first] = ids;
      // The same page for several numbers, or one of another list.
      const isOther =
        first === undefined || ids.length > length || [...this.#firsts.values()].includes(first);
      if (isOther) return void this.close();
      this.#firsts.set(number, first);
      last = number;
    }
    // Of a list so long that its end was not found, nobody knows what is pushed behind the last page that was looked at.
    if (this.#end - last > 1) [this.#end, this.#behindEnd] = [Infinity, undefined];
  }

  /**
   * Whether the list ends in front of this page, as it did before the others were read, and nothing moved since: a lead that
   * was pushed behind the last page comes back where another one goes.
   */
  isEnd(number: number): boolean {
    return this.isInUse && this.#end === number && this.#firsts.size === 0 && this.#pushed === 0;
  }

  /**
   * The empty page behind the last one, as it was when pages were looked at: no lead that was there then can stand behind
   * the pages that were read since, if none arrived in front.
   */
  emptyAt(position: Position): PageFacts | undefined {
    const number = countOfPosition(position)?.value ?? 0;
    return this.isEnd(number) ? this.#behindEnd : undefined;
  }

  /**
   * Whether the border in front of a page is shown, or pages have to be read again; undefined where it is to be looked
   * at. `at` is where the record that ended the page before stands on this one.
   */
  judge(
    position: Position,
    number: number,
    leads: readonly ScannedRecord[],
    at: number,
  ): 'joined' | 'gap' | undefined {
    if (this.#firsts.size === 0 && position !== this.#shownUpTo) return undefined;
    const isInOrder = leads.length > 0 && leads.every((lead, i) => this.#isRead(lead) === i <= at);
    if (position === this.#shownUpTo) {
      // Leads that arrived around the looks: it is not known in front of which.
      if (at >= 0 || !isInOrder) this.close();
      return undefined;
    }
    this.#pushed += at + 1;
    if (!this.#isOpen || !isInOrder) return 'gap';
    const first = this.#firsts.get(number);
    if (first === undefined) return 'joined';
    if (leads.findIndex(({ id }) => id === first) !== this.#pushed) return 'gap';
    this.#firsts.delete(number);
    this.#shownUpTo = position;
    return 'joined';
  }
}
