import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  isDigit,
  minus,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from './bytes.ts';
import { decodeString, idKinds, row, ScannedRecord, scanner } from './scanner.ts';
import { formatPointer } from './exact.ts';
import { InvalidRecord } from './invalid-record.ts';
import { memberBesideLead, noLeadInElement } from './errors.ts';

/** The position of a value in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member extends Span {
  readonly name: string;
}

/** The members of an object, repeated names too. The scanner must hold this text, which is valid. */
export function membersAt(json: Buffer, start: number): Member[] {
  const members: Member[] = [];
  if (json[start] !== openBrace) return members;
  for (let i = pastSpace(json, start + 1); json[i] !== closeBrace && i < json.length;) {
    const nameEnd = scanner.valueEnd(i);
    const valueStart = pastSpace(json, pastSpace(json, nameEnd) + 1);
    const end = scanner.valueEnd(valueStart);
    members.push({ name: decodeString(json, i, nameEnd), start: valueStart, end });
    i = nextStart(json, end);
  }
  return members;
}

/** The elements of an array, `most` of them at most. The scanner must hold this text, which is valid. */
export function elementsAt(json: Buffer, start: number, most = Number.POSITIVE_INFINITY): Span[] {
  const elements: Span[] = [];
  if (json[start] !== openBracket) return elements;
  for (let i = pastSpace(json, start + 1); json[i] !== closeBracket && elements.length < most;) {
    const end = scanner.valueEnd(i);
    elements.push({ start: i, end });
    i = nextStart(json, end);
  }
  return elements;
}

/** The member of that name; undefined where there is none or more than one. */
function onlyMember(members: readonly Member[], name: string): Member | undefined {
  const named = members.filter((member) => member.name === name);
  return named.length === 1 ? named[0] : undefined;
}

/**
 * The value at a JSON Pointer, given as its reference tokens, in the value at `root`. The scanner must hold this text, as
 * for `membersAt`.
 */
function spanAt(
  json: Buffer,
  path: readonly string[],
  root: Span = { start: 0, end: json.length },
): Span | undefined {
  let span: Span | undefined = root;
  for (const step of path) {
    if (span === undefined) return undefined;
    span =
      json[span.start] === openBracket
        ? elementAt(json, span.start, step)
        : onlyMember(membersAt(json, span.start), step);
  }
  return span;
}

/** The values at a path in which `*` steps through arrays, or the part of it at which it cannot be followed. */
export type SpansAt =
  | { readonly ok: true; readonly spans: readonly Span[] }
  | { readonly ok: false; readonly kind: 'nothing'; readonly path: readonly string[] }
  /** An index into an array of more than one element, which `path` leads to. */
  | { readonly ok: false; readonly kind: 'index'; readonly path: readonly string[]; readonly count: number }
  /** More values than the limit, at the end of the path or on the way. */
  | { readonly ok: false; readonly kind: 'many' };

/**
 * Finds all values that a path with `*` leads to. An index is refused where the array has more elements. The scanner must
 * hold this text, as for `membersAt`.
 */
export function spansAt(
  json: Buffer,
  path: readonly string[],
  root: Span,
  limit = Number.POSITIVE_INFINITY,
): SpansAt {
  let places: readonly { readonly span: Span; readonly path: readonly string[] }[] = [
    { span: root, path: [] },
  ];
  for (const step of path) {
    const next: { span: Span; path: readonly string[] }[] = [];
    for (const { span, path: above } of places) {
      const isArray = json[span.start] === openBracket;
      if (isArray && step === '*') {
        for (const [index, element] of elementsAt(json, span.start, limit - next.length + 1).entries())
          next.push({ span: element, path: [...above, String(index)] });
        if (next.length > limit) return { ok: false, kind: 'many' };
        continue;
      }
      const inner = spanAt(json, [step], span);
      if (inner === undefined) return { ok: false, kind: 'nothing', path: [...above, step] };
      const count = isArray ? elementsAt(json, span.start).length : 1;
      if (count > 1) return { ok: false, kind: 'index', path: above, count };
      next.push({ span: inner, path: [...above, step] });
    }
    places = next;
  }
  return { ok: true, spans: places.map(({ span }) => span) };
}

function elementAt(json: Buffer, start: number, step: string): Span | undefined {
  if (!/^(0|[1-9]\d{0,8})$/.test(step)) return undefined;
  return elementsAt(json, start, Number(step) + 1)[Number(step)];
}

const pastSpace = (json: Buffer, offset: number): number => skipSpace(json, offset, json.length);

/** Where the next value of a container begins, or its end stands, after one that ended at `end`. */
function nextStart(json: Buffer, end: number): number {
  const i = pastSpace(json, end);
  return json[i] === comma ? pastSpace(json, i + 1) : i;
}

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
   * are not in `elements`. Throws a `DataError` for an element that holds no lead where the others do.
   */
  read(elements: ScannedRecord[], from: number, before: number): void {
    const first = elements.find((element, i) => i >= from && !(element instanceof InvalidRecord));
    if (first === undefined || this.#takesAll(first)) return;
    for (let i = from; i < elements.length; i += 1) {
      const element = elements[i] as ScannedRecord;
      if (!(element instanceof InvalidRecord)) elements[i] = this.#lead(element.bytes, before + i + 1);
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
      throw noLeadInElement(formatPointer(this.#item), nth, 'dialect');
    }
    return identifiedRecord(element, lead.start, this.#idName);
  }

  #unwrapped(element: Buffer, nth: number): ScannedRecord {
    const wrapper = this.#wrapper ?? undefined;
    if (wrapper === undefined) return identifiedRecord(element, 0, this.#idName);
    const members = membersAt(element, 0);
    const lead = onlyMember(members, wrapper.member);
    const place = formatPointer([wrapper.member]);
    if (lead === undefined || element[lead.start] !== openBrace) {
      throw noLeadInElement(place, nth, 'elements before');
    }
    const stranger = strangerIn(members, wrapper);
    if (stranger !== undefined) throw memberBesideLead(place, stranger, nth);
    // A lead without the id that the dialect names has none.
    const hasOuterId = wrapper.id !== undefined && this.#idName === undefined;
    const outerId = hasOuterId ? onlyMember(members, wrapper.id ?? '') : undefined;
    return identifiedRecord(element, lead.start, this.#idName, outerId);
  }
}

/** A shape of elements that hold the lead in a member, as some kinds of services send them. */
interface Wrapper {
  /** The member that holds the lead. */
  readonly member: string;
  /** Members that it has to have as well. */
  readonly needs: readonly string[];
  /** Names that may stand beside the lead; an element with others is no wrapper, since what they hold would be lost. */
  readonly beside: RegExp;
  /** The member that identifies a lead which has no id itself. */
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

/** The wrapper that an element with these members is. What is null where the lead would be may be one that was deleted. */
function wrapperOf(json: Buffer, members: readonly Member[]): Wrapper | undefined {
  return wrappers.find((wrapper) => {
    const lead = onlyMember(members, wrapper.member);
    if (lead === undefined) return false;
    const isObjectOrNull =
      json[lead.start] === openBrace || json.toString('latin1', lead.start, lead.end) === 'null';
    const hasAll = wrapper.needs.every((name) => onlyMember(members, name) !== undefined);
    return isObjectOrNull && hasAll && strangerIn(members, wrapper) === undefined;
  });
}

/** The name of a member that does not belong to the wrapper. */
const strangerIn = (members: readonly Member[], { member, beside }: Wrapper): string | undefined =>
  members.map(({ name }) => name).find((name) => name !== member && !beside.test(name));

/**
 * The object at `start` of a valid and compact text as a record whose id is the member `idName`, where `contact.id` is one of an
 * object further inside. `outerId` is the place
 * of an id outside the object, in the same text, for a record that has none. Loads the text into the scanner.
 */
export function identifiedRecord(json: Buffer, start = 0, idName?: string, outerId?: Span): ScannedRecord {
  scanner.load(json);
  scanner.valueEnd(start);
  const rows = scanner.lastRow();
  if (idName !== undefined && idName !== 'id') {
    const [id, ...others] = idsNamed(json, start, idName);
    if (id === undefined) rows[row.idKind] = idKinds.missing;
    else setId(rows, json, id, others.length > 0);
  }
  if (outerId !== undefined && rows[row.idKind] === idKinds.missing) setId(rows, json, outerId, false);
  return new ScannedRecord(json, rows, 0);
}

/** The members of that name, or at the path that its dots make where no member has all of it. */
function idsNamed(json: Buffer, start: number, idName: string): readonly Span[] {
  const members = membersAt(json, start);
  const named = members.filter(({ name }) => name === idName);
  const dot = idName.indexOf('.');
  if (named.length > 0 || dot < 0) return named;
  const above = onlyMember(members, idName.slice(0, dot));
  return above === undefined ? [] : idsNamed(json, above.start, idName.slice(dot + 1));
}

/** The same as the scanner does for a member `id`. */
function setId(rows: Int32Array, json: Buffer, { start, end }: Span, isRepeated: boolean): void {
  const inner = json[start] === quote ? 1 : 0;
  rows[row.idStart] = start + inner;
  rows[row.idEnd] = end - inner;
  rows[row.idKind] = isRepeated ? idKinds.repeated : kindOf(json.subarray(start, end));
}

function kindOf(value: Buffer): number {
  if (value[0] === quote) {
    if (value.includes(backslash)) return idKinds.escaped;
    return value.length > 2 ? idKinds.asItStands : idKinds.unusable;
  }
  const digits = value[0] === minus ? value.subarray(1) : value;
  return digits.every(isDigit) ? idKinds.asItStands : idKinds.unusable;
}
