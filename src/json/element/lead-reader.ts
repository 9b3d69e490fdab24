import { openBrace } from '../bytes.ts';
import { besideLead, noLeadAt } from '../page-errors.ts';
import type { ScannedRecord } from '../scanned-record.ts';
import { scanner } from '../scanner.ts';
import { identifiedRecord } from './identified-record.ts';
import { membersAt, onlyMember, spanAt } from './members.ts';
import { strangerIn, type Wrapper, wrapperOf } from './wrapper.ts';

/** Where the lead is inside each element of the array: reference tokens of a JSON Pointer, or `auto`. */
export type ItemPlace = readonly string[] | 'auto';

/**
 * Finds the lead in each element of a page, and its id. `auto` looks at the first element of a walk: either all are
 * wrappers of its kind, or all are leads themselves. The leads are the bytes inside the elements, never built again.
 */
export class LeadReader {
  readonly #item: ItemPlace;
  readonly #idName: string | undefined;
  /** What `auto` found; null: the elements are leads. */
  #wrapper: Wrapper | null | undefined;

  /** `idName` is another name of the id. */
  constructor(item: ItemPlace, idName: string | undefined) {
    this.#item = item;
    this.#idName = idName;
  }

  /**
   * Replaces the elements of a page by their leads, from the index `from` on; `before` is how many elements of the page
   * are not in `elements`. Throws an `UnreadableElementError` for an element that holds no lead where the others do.
   */
  read(elements: ScannedRecord[], from: number, before: number): void {
    const first = elements[from];
    if (first === undefined || this.#takesAll(first)) return;
    for (let i = from; i < elements.length; i += 1) {
      elements[i] = this.#lead((elements[i] as ScannedRecord).bytes, before + i + 1);
    }
  }

  /** Whether the elements are the leads, with the ids that the scanner found. */
  #takesAll({ bytes }: ScannedRecord): boolean {
    if (this.#item === 'auto' && this.#wrapper === undefined) {
      scanner.load(bytes);
      this.#wrapper = wrapperOf(bytes, membersAt(bytes, 0)) ?? null;
    }
    const isBare = this.#item === 'auto' ? this.#wrapper === null : this.#item.length === 0;
    return isBare && this.#idName === undefined;
  }

  #lead(element: Buffer, nth: number): ScannedRecord {
    scanner.load(element);
    if (this.#item === 'auto') return this.#unwrapped(element, nth);
    const lead = spanAt(element, this.#item);
    if (lead === undefined || element[lead.start] !== openBrace) {
      throw noLeadAt(this.#item, nth);
    }
    return identifiedRecord(element, lead.start, this.#idName);
  }

  #unwrapped(element: Buffer, nth: number): ScannedRecord {
    const wrapper = this.#wrapper ?? undefined;
    if (wrapper === undefined) return identifiedRecord(element, 0, this.#idName);
    const members = membersAt(element, 0);
    const lead = onlyMember(members, wrapper.member);
    if (lead === undefined || element[lead.start] !== openBrace) {
      throw noLeadAt([wrapper.member], nth, 'auto');
    }
    const stranger = strangerIn(members, wrapper);
    if (stranger !== undefined) throw besideLead([wrapper.member], stranger, nth);
    // A lead without the id that the dialect names has none.
    const hasOuterId = wrapper.id !== undefined && this.#idName === undefined;
    const outerId = hasOuterId ? onlyMember(members, wrapper.id ?? '') : undefined;
    return identifiedRecord(element, lead.start, this.#idName, outerId);
  }
}
