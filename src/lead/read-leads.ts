import { compact, describeByte, openBrace, openBracket } from '../json/bytes.ts';
import { formatPointer, isObject, type Json } from '../json/exact.ts';
import { elementsAt, identifiedRecord, membersAt, type Span, spanAt } from '../json/members.ts';
import {
  type DocumentFault,
  idKinds,
  readDocument,
  recordAt,
  type ScannedRecord,
  scanner,
} from '../json/scanner.ts';
import { parseIsoTime } from '../time/time-text.ts';
import type { RawLead } from './raw-lead.ts';

/** Where the lead is in a body: the reference tokens of a JSON Pointer (RFC 6901), or `auto`. */
export type LeadAt = readonly string[] | 'auto';

/** How a front names what says where the leads are; it stands in the sentences that are made here. */
export interface LeadAtNames {
  /** What names the place. */
  readonly saidBy: string;
  /** What may name another one; absent where nothing can. */
  readonly option?: string | undefined;
}

/** Which field of a lead identifies it. */
export interface IdField {
  readonly name: string;
  /** What may name another one, for messages; absent where nothing can. */
  readonly option?: string | undefined;
  /** Reads a compact record by it; absent for `id`, which the scanner finds. */
  readonly recordIn?: ((json: Buffer) => ScannedRecord) | undefined;
}

/** The field of the specification. */
export const plainId: IdField = { name: 'id' };

/** A lead of a body. */
export interface FoundLead {
  readonly lead: RawLead;
  /** Its own bytes in the body; undefined when it is the body. */
  readonly place?: Span | undefined;
  /** Deviations from the specification that are no reason to reject a lead. */
  readonly warnings: readonly string[];
}

export type ReadLeads =
  | { readonly ok: true; readonly leads: readonly FoundLead[] }
  | { readonly ok: false; readonly detail: string; readonly isTooMany?: true };

type Document = Extract<ReturnType<typeof readDocument>, { readonly ok: true }>;

/** Of one body. */
const mostLeads = 1000;

/**
 * Reads the leads of a body, as `readLead` reads one: at least one, and all of them or none. `auto` takes the body when it
 * has one of `category`, `contact` and `createdAt` beside its id, otherwise the only object at depth one or two that has,
 * or the only array of such objects; when that is not clear, the body itself, if it has an id. An array at the place that a
 * pointer names is several leads.
 */
export function readLeads(
  body: Uint8Array,
  at: LeadAt,
  names: LeadAtNames = unnamed,
  idField: IdField = plainId,
): ReadLeads {
  if (at === 'auto') {
    const whole = readLead(body, idField);
    return whole.ok && whole.hasLeadField ? theBody(whole) : search(body, whole, names.option, idField);
  }
  const document = readDocument(body);
  if (!document.ok) return { ok: false, detail: documentDetail(document.fault) };
  const place = spanAt(document.json, at, document);
  if (place === undefined) {
    return {
      ok: false,
      detail: `there is nothing at ${pointerText(at)}, where ${names.saidBy} says that the lead is`,
    };
  }
  return leadsAt(document, place, `at ${pointerText(at)}`, idField);
}

const unnamed: LeadAtNames = { saidBy: 'the receiver' };

const theBody = ({ lead, warnings }: Extract<ReadLead, { readonly ok: true }>): ReadLeads => ({
  ok: true,
  leads: [{ lead, warnings }],
});

/** `whole`: the body read as a lead. */
function search(body: Uint8Array, whole: ReadLead, option: string | undefined, idField: IdField): ReadLeads {
  const document = readDocument(body);
  if (!document.ok) return { ok: false, detail: documentDetail(document.fault) };
  const { json, start } = document;
  // It is meant to be the lead, and what is inside it is no other one.
  if (!whole.ok && whole.lacksId !== true && isLeadLike(json, start)) return whole;
  const places = leadPlaces(json, start, idField.name);
  const [place] = places;
  if (place === undefined) return whole.ok ? theBody(whole) : noLeadIn(document, whole, option, idField);
  const isOne = json[place.start] === openBrace || elementsAt(json, place.start, 2).length === 1;
  // Several leads in a body with an id of its own could also be parts of the one lead that it is.
  if (places.length === 1 && (isOne || !whole.ok)) {
    const found = leadsAt(document, place, 'in the body', idField);
    if (found.ok || !whole.ok) return found;
  }
  if (!whole.ok) return refused('more than one object in the body could be the lead', option);
  const warning = `objects inside could be the lead${option === undefined ? '' : ` (${option})`}`;
  return theBody({ ...whole, warnings: [...whole.warnings, warning] });
}

/** `place` and `id`: what could name another one, so that there is a lead. */
function refused(found: string, place: string | undefined, id?: string): ReadLeads {
  const hints = [
    id !== undefined && `with ${id} which field of a lead is its id`,
    place !== undefined && `with ${place} where in the body the lead is`,
  ].filter((hint) => hint !== false);
  return { ok: false, detail: hints.length === 0 ? found : `${found}; say ${hints.join(', or ')}` };
}

/** A body in which nothing can be a lead: its id may have another name, or be further inside. */
function noLeadIn(
  { json, start }: Document,
  whole: Unread,
  place: string | undefined,
  id: IdField,
): ReadLeads {
  if (json[start] !== openBracket) {
    return refused(whole.detail, isLeadLike(json, start) ? undefined : place, whole.lacksId && id.option);
  }
  if (elementsAt(json, start, 1).length === 0) return refused('the body is an empty array', place);
  const found = `no object in the array has an '${id.name}' beside category, contact or createdAt`;
  return refused(found, place, id.option);
}

/** `where`: the place in words. */
function leadsAt({ json, start }: Document, place: Span, where: string, idField: IdField): ReadLeads {
  const isOne = json[place.start] === openBrace;
  const isBody = isOne && place.start === start;
  if (!isOne && json[place.start] !== openBracket)
    return { ok: false, detail: `what is ${where} is no object and no array` };
  const elements = isOne ? [place] : elementsAt(json, place.start, mostLeads + 1);
  if (elements.length === 0) return { ok: false, detail: `the array ${where} is empty` };
  if (elements.length > mostLeads) {
    return { ok: false, isTooMany: true, detail: `the array ${where} has more than ${mostLeads} leads` };
  }
  const leads: FoundLead[] = [];
  for (const span of elements) {
    const read: ReadLead =
      json[span.start] === openBrace
        ? readLead(isBody ? json : json.subarray(span.start, span.end), idField)
        : { ok: false, detail: 'it is not a JSON object' };
    if (!read.ok) {
      const which = isOne ? `the object ${where}: ` : `lead ${leads.length + 1} of the array ${where}: `;
      return refused((isBody ? '' : which) + read.detail, undefined, read.lacksId && idField.option);
    }
    leads.push({ lead: read.lead, warnings: read.warnings, place: isBody ? undefined : span });
  }
  return { ok: true, leads };
}

const pointerText = (path: readonly string[]): string => (path.length === 0 ? "''" : formatPointer(path));

/** Objects further inside are not looked at. */
const deepest = 2;

/** Of one array, from its first element on: more leads are too many for one body. */
const mostElements = 1001;

/**
 * Where leads may be inside a body that is none itself: objects at depth one or two that have an id beside one of `leadFields`,
 * and arrays of such objects, each array as one place. What is inside a lead belongs to it. The scanner must hold this
 * text, which is valid.
 */
export function leadPlaces(json: Buffer, start: number, idName: string, depth = 0): Span[] {
  if (depth === deepest) return [];
  const isArray = json[start] === openBracket;
  const children = isArray ? elementsAt(json, start, mostElements) : membersAt(json, start);
  if (isArray && children.some((child) => isLeadLike(json, child.start, idName)))
    return [{ start, end: scanner.valueEnd(start) }];
  return children.flatMap((child) => {
    if (!isArray && isLeadLike(json, child.start, idName)) return [{ start: child.start, end: child.end }];
    return isContainer(json, child) ? leadPlaces(json, child.start, idName, depth + 1) : [];
  });
}

const isContainer = (json: Buffer, { start }: Span): boolean =>
  json[start] === openBrace || json[start] === openBracket;

/** Whether what is at `start` is an object with one of `leadFields`, and with `idName`, usable or not, where that is given. */
function isLeadLike(json: Buffer, start: number, idName?: string): boolean {
  const names = membersAt(json, start).map(({ name }) => name);
  return (idName === undefined || names.includes(idName)) && leadFields.some((name) => names.includes(name));
}

export type ReadLead =
  | {
      readonly ok: true;
      readonly lead: RawLead;
      readonly warnings: readonly string[];
      /** Whether it has one of the fields that only a lead has beside its id: see `leadFields`. */
      readonly hasLeadField: boolean;
    }
  | Unread;

interface Unread {
  readonly ok: false;
  readonly detail: string;
  readonly lacksId?: true | undefined;
}

/** Fields of section 2 of the specification that tell a lead from an envelope, which may have an id as well. */
const leadFields = ['category', 'contact', 'createdAt'] as const;

/** Whether one of them is anywhere in a JSON value, however deep it is. */
export function holdsLeadField(json: unknown): boolean {
  const open = [json];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && leadFields.some((name) => Object.hasOwn(value, name))) return true;
    // One by one: what is spread into arguments may be too much for the stack.
    for (const member of Object.values(value) as unknown[]) open.push(member);
  }
  return false;
}

/**
 * Reads one lead, such as a webhook body: strict JSON in UTF-8, one object, with a usable id (a string or an integer,
 * not repeated as a key), by the field that identifies it. Any other deviation from section 2 of the
 * specification is a warning. `detail` says in a few words what is wrong, and quotes nothing but single characters.
 */
export function readLead(bytes: Uint8Array, { name: idName, recordIn }: IdField = plainId): ReadLead {
  const document = readDocument(bytes);
  if (!document.ok) return { ok: false, detail: documentDetail(document.fault) };
  const { json, start, hasByteOrderMark } = document;
  if (json[start] !== openBrace) return { ok: false, detail: 'the body is not a JSON object' };
  const lead =
    recordIn === undefined
      ? recordAt(json, scanner.lastRow(), 0)
      : recordIn(compact(json.subarray(start, document.end)));
  const { idKind } = lead;
  if (idKind === idKinds.missing) return { ok: false, detail: `there is no '${idName}'`, lacksId: true };
  if (!lead.hasId) {
    const isRepeated = idKind === idKinds.repeated;
    const detail = isRepeated
      ? `the key '${idName}' occurs more than once`
      : `'${idName}' is no string or integer`;
    return { ok: false, detail };
  }
  // Only the types of the fields are checked, so numbers need not be exact.
  const record = JSON.parse(lead.bytes.toString('utf8')) as JsonObject;
  const warnings = deviationsOf(record, idName);
  return {
    ok: true,
    lead,
    warnings: hasByteOrderMark ? ['starts with a byte order mark', ...warnings] : warnings,
    hasLeadField: leadFields.some((name) => Object.hasOwn(record, name)),
  };
}

type JsonObject = { readonly [key: string]: Json };

/** The deviations of a record from section 2 of the specification, in a few words each; unknown fields are none. */
export function deviationsOf(record: JsonObject, idName = plainId.name): string[] {
  const deviations: string[] = [];
  if (typeof record[idName] !== 'string') deviations.push(`${idName} is not a string`);
  expectText(record, 'category', '', deviations);
  const contact = expectObject(record, 'contact', deviations);
  for (const name of contact === undefined ? [] : ['name', 'email', 'phone']) {
    expectText(contact, name, 'contact.', deviations);
  }
  const metadata = expectObject(record, 'metadata', deviations);
  if (metadata !== undefined) expectText(metadata, 'source', 'metadata.', deviations);
  const before = deviations.length;
  expectText(record, 'createdAt', '', deviations);
  if (deviations.length === before && !isUtcTimestamp(record['createdAt'])) {
    deviations.push('createdAt is not an ISO 8601 UTC timestamp');
  }
  return deviations;
}

function expectText(
  object: JsonObject | undefined,
  name: string,
  prefix: string,
  deviations: string[],
): void {
  const value = object?.[name];
  if (value === undefined) deviations.push(`${prefix}${name} is missing`);
  else if (typeof value !== 'string') deviations.push(`${prefix}${name} is not a string`);
}

function expectObject(record: JsonObject, name: string, deviations: string[]): JsonObject | undefined {
  const value = record[name];
  if (isObject(value)) return value;
  deviations.push(value === undefined ? `${name} is missing` : `${name} is not an object`);
  return undefined;
}

function isUtcTimestamp(value: Json | undefined): boolean {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]00(:?00)?)$/i.test(value) &&
    parseIsoTime(value) !== undefined
  );
}

/** `option`: what may name another one, for messages. */
export function idFieldNamed(name: string, option?: string): IdField {
  if (name === plainId.name) return { name, option };
  return { name, option, recordIn: (json) => identifiedRecord(json, 0, name) };
}

/** A lead that came with this id, read again whichever field it was. */
export function readStoredLead(bytes: Uint8Array, leadId: string): ReadLead {
  const plain = readLead(bytes);
  return plain.ok && plain.lead.id === leadId ? plain : readLead(bytes, idFieldIn(bytes, leadId));
}

/** The field of a lead that holds this id: `id` where it does, or where none does. */
function idFieldIn(bytes: Uint8Array, leadId: string): IdField {
  const document = readDocument(bytes);
  const members = document.ok ? membersAt(document.json, document.start) : [];
  const fields = [plainId, ...members.map(({ name }) => idFieldNamed(name))];
  const holdsId = (field: IdField): boolean => {
    const read = readLead(bytes, field);
    return read.ok && read.lead.id === leadId;
  };
  return fields.find(holdsId) ?? plainId;
}

/** What is wrong with a document, in a few words that quote nothing but a single character: it may hold a secret. */
export function documentDetail(
  fault: DocumentFault,
  subject = 'the body',
  placeOf = (offset: number): string => `at byte ${offset}`,
): string {
  switch (fault.kind) {
    case 'not-utf8':
      return `${subject} is not UTF-8`;
    case 'empty':
      return `${subject} is empty`;
    case 'not-json':
      return `${subject} is not JSON`;
    case 'ends-early':
      return 'the JSON ends too early';
    case 'unexpected-byte':
      return `${subject} is not JSON: unexpected ${describeByte(fault.byte)} ${placeOf(fault.offset)}`;
  }
}
