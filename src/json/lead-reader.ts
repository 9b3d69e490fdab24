import { backslash, isDigit, minus, openBrace, quote } from './bytes.ts';
import { memberBesideLead, noLeadInElement } from './errors.ts';
import { formatPointer } from './exact.ts';
import { membersAt, type MemberSpan, onlyMember, type Span, spanAtPointer } from './members.ts';
import { idKinds, row, scanner } from './scanner.ts';
import { InvalidRecord, ScannedRecord } from './scanned-record.ts';

/** The place of the lead in each element of the array: reference tokens of a JSON Pointer, or `auto`. */
export type ItemPlace = readonly string[] | 'auto';

/**
 * Finds the lead in each element of a page, and its id. `auto` decides by the first element of a walk whether
 * all elements are wrappers of one kind, or leads. A lead keeps the bytes that it has inside its element.
 */
export class LeadReader {
  readonly #item: ItemPlace;
  readonly #idName: string | undefined;
  /** Only `auto` sets it: undefined before the first element of a walk, then null if the elements are leads. */
  #wrapper: Wrapper | null | undefined;

  constructor(item: ItemPlace, idName: string | undefined) {
    this.#item = item;
    this.#idName = idName;
  }

  /**
   * Replaces the elements of a page by their leads, from the index `firstUnread` on. `countBefore` is the number of elements
   * of the page that are no longer in `elements`, for the number in an error. Throws a `DataError` for an element without a
   * lead.
   */
  read(elements: ScannedRecord[], firstUnread: number, countBefore: number): void {
    if (this.#item === 'auto' && this.#wrapper === undefined) {
      const first = elements.find((element, i) => i >= firstUnread && !(element instanceof InvalidRecord));
      if (first === undefined) return;
      this.#findWrapper(first);
    }
    const areLeads = this.#item === 'auto' ? this.#wrapper === null : this.#item.length === 0;
    // The scanner has found their ids already.
    if (areLeads && this.#idName === undefined) return;
    for (let i = firstUnread; i < elements.length; i += 1) {
      const element = elements[i] as ScannedRecord;
      if (!(element instanceof InvalidRecord)) elements[i] = this.#lead(element.bytes, countBefore + i + 1);
    }
  }

  #findWrapper({ bytes }: ScannedRecord): void {
    scanner.load(bytes);
    this.#wrapper = wrapperOf(bytes, membersAt(bytes, 0)) ?? null;
  }

  #lead(element: Buffer, nth: number): ScannedRecord {
    scanner.load(element);
    if (this.#item === 'auto') return this.#leadInWrapper(element, nth);
    const lead = spanAtPointer(element, this.#item);
    if (lead === undefined || element[lead.start] !== openBrace)
      throw noLeadInElement(formatPointer(this.#item), nth, 'dialect');
    return identifiedRecord(element, lead.start, this.#idName);
  }

  #leadInWrapper(element: Buffer, nth: number): ScannedRecord {
    const wrapper = this.#wrapper;
    if (wrapper === null || wrapper === undefined) return identifiedRecord(element, 0, this.#idName);
    const members = membersAt(element, 0);
    const lead = onlyMember(members, wrapper.member);
    const place = formatPointer([wrapper.member]);
    if (lead === undefined || element[lead.start] !== openBrace)
      throw noLeadInElement(place, nth, 'elements before');
    const unknownMember = unknownMemberIn(members, wrapper);
    if (unknownMember !== undefined) throw memberBesideLead(place, unknownMember, nth);
    // An id that the dialect names goes before the id of the wrapper.
    const outerName = this.#idName === undefined ? wrapper.id : undefined;
    const outerId = outerName === undefined ? undefined : onlyMember(members, outerName);
    return identifiedRecord(element, lead.start, this.#idName, outerId);
  }
}

/**
 * An object around a lead, which is in its `member`. It has all members of `needs`, and none beside the lead with a
 * name that `beside` does not match, since that would be lost. `id` is the member that identifies a lead without
 * an id.
 */
interface Wrapper {
  readonly member: string;
  readonly needs: readonly string[];
  readonly beside: RegExp;
  readonly id?: string;
}

const wrappers: readonly Wrapper[] = [
  // GraphQL Cursor Connections: edges[].node.
  { member: 'node', needs: [], beside: /^(cursor|__typename)$/ },
  // CouchDB with include_docs=true: rows[].doc.
  { member: 'doc', needs: ['id', 'key', 'value'], beside: /^(id|key|value)$/, id: 'id' },
  // Elasticsearch: hits[]._source.
  {
    member: '_source',
    needs: [],
    beside: /^(_.*|sort|fields|highlight|matched_queries|inner_hits)$/,
    id: '_id',
  },
  { member: 'lead', needs: [], beside: /^$/ },
];

/** Finds the wrapper that has these members. A deleted lead may be null in it. */
function wrapperOf(json: Buffer, members: readonly MemberSpan[]): Wrapper | undefined {
  return wrappers.find((wrapper) => {
    const lead = onlyMember(members, wrapper.member);
    if (lead === undefined) return false;
    const isObjectOrNull =
      json[lead.start] === openBrace || json.toString('latin1', lead.start, lead.end) === 'null';
    const hasAll = wrapper.needs.every((name) => onlyMember(members, name) !== undefined);
    return isObjectOrNull && hasAll && unknownMemberIn(members, wrapper) === undefined;
  });
}

const unknownMemberIn = (members: readonly MemberSpan[], { member, beside }: Wrapper): string | undefined =>
  members.map(({ name }) => name).find((name) => name !== member && !beside.test(name));

/**
 * Returns the object at `start` of valid and compact JSON as a record whose id is the member `idName`;
 * `contact.id` names a nested one. `outerId` is the place of an id outside the object, for a record that has
 * none. Loads the text into the scanner.
 */
export function identifiedRecord(json: Buffer, start = 0, idName?: string, outerId?: Span): ScannedRecord {
  const idRow = scanner.rowOf(json, start);
  const scannerFindsId = idName === undefined || idName === 'id';
  if (!scannerFindsId) {
    const [id, ...duplicates] = idsNamed(json, start, idName);
    if (id === undefined) idRow[row.idKind] = idKinds.missing;
    else setId(idRow, json, id, duplicates.length > 0);
  }
  if (outerId !== undefined && idRow[row.idKind] === idKinds.missing) setId(idRow, json, outerId, false);
  return new ScannedRecord(json, idRow, 0);
}

function idsNamed(json: Buffer, start: number, idName: string): readonly Span[] {
  const members = membersAt(json, start);
  const matches = members.filter(({ name }) => name === idName);
  const dot = idName.indexOf('.');
  if (matches.length > 0 || dot < 0) return matches;
  const above = onlyMember(members, idName.slice(0, dot));
  return above === undefined ? [] : idsNamed(json, above.start, idName.slice(dot + 1));
}

/** Writes the id into the row as the scanner does for a member `id`. */
function setId(rows: Int32Array, json: Buffer, { start, end }: Span, isRepeated: boolean): void {
  const inner = json[start] === quote ? 1 : 0;
  rows[row.idStart] = start + inner;
  rows[row.idEnd] = end - inner;
  rows[row.idKind] = isRepeated ? idKinds.repeated : idKindOf(json.subarray(start, end));
}

function idKindOf(value: Buffer): number {
  if (value[0] === quote) {
    if (value.includes(backslash)) return idKinds.escaped;
    return value.length > 2 ? idKinds.plain : idKinds.unusable;
  }
  const digits = value[0] === minus ? value.subarray(1) : value;
  return digits.every(isDigit) ? idKinds.plain : idKinds.unusable;
}
