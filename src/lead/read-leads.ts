import { compact, describeByte, openBrace, openBracket } from '../json/bytes.ts';
import { formatPointer, isObject, type Json } from '../json/exact.ts';
import {
  elementsAt,
  identifiedRecord,
  membersAt,
  type Span,
  spansAt,
  type SpansAt,
} from '../json/members.ts';
import {
  type DocumentFault,
  idKinds,
  readDocument,
  recordAt,
  type ScannedRecord,
  scanner,
} from '../json/scanner.ts';
import { parseIsoTime } from '../time/time-text.ts';
import { findLeads, idIn, type LeadReading } from './find-leads.ts';
import type { RawLead } from './raw-lead.ts';

/** Where the lead is in a body: the reference tokens of a JSON Pointer (RFC 6901), or `auto`. */
export type LeadAt = readonly string[] | 'auto';

/** How a front names what says where the leads are; it stands in the sentences that are made here. */
export interface LeadAtNames {
  /** What names the place; absent where it was found. */
  readonly saidBy?: string | undefined;
  /** What may name another one; absent where nothing can. */
  readonly option?: string | undefined;
}

/** Which field of a lead identifies it. */
export interface IdField {
  /** Of a field inside an object of the lead, the names with dots between them: `contact.id`. */
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
  /** Where it was found, as a pointer in which `*` steps through an array; undefined when it is the body. */
  readonly pointer?: string | undefined;
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
 * Reads the leads of a body, as `readLead` reads one: at least one, and all of them or none. `auto` takes the one place where a
 * lead can be, by `findLeads`. In a pointer, `*` steps through all elements of an array, and an array at its end is all of
 * its elements; an index is refused where the array has more of them, since a 200 would lose those.
 */
export function readLeads(
  body: Uint8Array,
  at: LeadAt,
  names: LeadAtNames = {},
  idField: IdField = plainId,
): ReadLeads {
  const document = readDocument(body);
  if (!document.ok) return { ok: false, detail: documentDetail(document.fault) };
  if (at !== 'auto') return leadsAt(document, at, names, idField);
  const value = JSON.parse(document.json.toString('utf8', document.start, document.end)) as Json;
  const reading = findLeads(value, idField.name);
  if (reading.kind === 'one' && reading.path.length > 0) return leadsAt(document, reading.path, {}, idField);
  if (reading.kind === 'one') return theBody(leadOf(document, idField, value));
  return { ok: false, detail: refusal(reading, value, names.option, idField) };
}

const theBody = (read: ReadLead): ReadLeads =>
  read.ok ? { ok: true, leads: [{ lead: read.lead, warnings: read.warnings }] } : read;

/** Why no lead is taken from a body, with what would name one. */
function refusal(
  reading: Exclude<LeadReading, { readonly kind: 'one' }>,
  value: Json,
  option: string | undefined,
  idField: IdField,
): string {
  const placed = (paths: readonly (readonly string[])[]): string =>
    listed(paths.slice(0, mostNamed).map((path) => `${option ?? ''} ${pointerText(path)}`.trim()));
  const hint = (paths: readonly (readonly string[])[], purpose: string): string =>
    option === undefined ? '' : `; ${placed(paths)} ${purpose}`;
  switch (reading.kind) {
    case 'several': {
      const places = listed(reading.paths.slice(0, mostNamed).map(pointerText));
      return `more than one object in the body could be the lead, at ${places}${hint(reading.paths, 'says which')}`;
    }
    case 'past': {
      const places = listed(reading.paths.slice(0, mostNamed).map(pointerText));
      return `the only lead in the body is a former one, at ${places}${hint(reading.paths, 'takes it all the same')}`;
    }
    case 'deletion':
      return `${reading.member} says that the lead was deleted${hint([reading.path], 'takes it all the same')}`;
    case 'none':
      return noLeadIn(value, option, idField);
  }
}

/** Places that are named in one message. */
const mostNamed = 5;

const listed = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1) ?? ''}`;

/** A body in which nothing can be a lead: its id may have another name, or be further inside. */
function noLeadIn(value: Json, option: string | undefined, { name, option: idOption }: IdField): string {
  if (Array.isArray(value) && value.length === 0) return 'the body is an empty array';
  if (typeof value !== 'object' || value === null) return 'the body is not a JSON object';
  const isNamed = !Array.isArray(value) && idIn(value as JsonObject, name) !== undefined;
  const found = isNamed
    ? `no field of a lead is beside the '${name}' of the body`
    : Array.isArray(value)
      ? `no object in the array has an '${name}' beside category or contact`
      : `there is no '${name}'`;
  const others = isNamed ? [] : idLikeNames(value).filter((other) => other !== name);
  const named = others.length === 0 ? '' : `, only ${listed(others.map((other) => `'${other}'`))}`;
  const isLead = isObject(value) && ('category' in value || 'contact' in value);
  const hints = [
    !isNamed && idOption !== undefined && `with ${idOption} which field of a lead is its id`,
    option !== undefined && !isLead && `with ${option} where in the body the lead is`,
  ].filter((hint) => hint !== false);
  return `${found}${named}${hints.length === 0 ? '' : `; say ${hints.join(', or ')}`}`;
}

const idLikeName =
  /^(?:lead|leadgen)[_-]?id$|^leadgenId$|^leadId$|^_?(?:uu|gu)?id$|^(?:record|entry|response|submission|contact)[_-]?id$/i;

/** Members by which services name a lead, in the body or one object further inside, with dots between their names. */
function idLikeNames(value: Json): string[] {
  const inside = (object: Json, above: string): string[] =>
    isObject(object)
      ? Object.keys(object)
          .filter((key) => idLikeName.test(key))
          .map((key) => above + key)
      : [];
  if (Array.isArray(value)) return inside((value as readonly Json[])[0] ?? null, '');
  if (!isObject(value)) return [];
  const nested = Object.entries(value).flatMap(([key, object]) => inside(object, `${key}.`));
  return [...inside(value, ''), ...nested].slice(0, mostNamed);
}

/**
 * The leads at the path that a person named, or to which only one reading leads; `names` says who named it. Below a `*` each
 * element has to have what follows.
 */
function leadsAt(
  { json, start, end }: Document,
  path: readonly string[],
  names: LeadAtNames,
  idField: IdField,
): ReadLeads {
  const pointer = pointerText(path);
  const found = spansAt(json, path, { start, end }, mostLeads + 1);
  if (!found.ok) return { ok: false, detail: pointerFault(found, path, names) };
  const places: Span[] = [];
  let isArray = path.includes('*');
  for (const span of found.spans) {
    if (json[span.start] === openBracket) {
      isArray = true;
      places.push(...elementsAt(json, span.start, mostLeads + 1));
    } else if (json[span.start] === openBrace || isArray) places.push(span);
    else return { ok: false, detail: `what is at ${pointer} is no object and no array` };
  }
  if (places.length === 0) return { ok: false, detail: `the array at ${pointer} is empty` };
  if (places.length > mostLeads) {
    return { ok: false, isTooMany: true, detail: `there are more than ${mostLeads} leads at ${pointer}` };
  }
  const isBody = path.length === 0 && !isArray;
  const leads: FoundLead[] = [];
  for (const place of places) {
    const read: ReadLead =
      json[place.start] === openBrace
        ? readLead(isBody ? json : json.subarray(place.start, place.end), idField)
        : { ok: false, detail: 'it is not a JSON object' };
    if (!read.ok) {
      const which = isArray ? `lead ${leads.length + 1} at ${pointer}: ` : `the object at ${pointer}: `;
      const hint = read.lacksId === true ? idHint(idField) : '';
      return { ok: false, detail: (isBody ? '' : which) + read.detail + hint };
    }
    const { lead, warnings } = read;
    leads.push(isBody ? { lead, warnings } : { lead, warnings, place, pointer });
  }
  return { ok: true, leads };
}

const idHint = ({ option }: IdField): string =>
  option === undefined ? '' : `; say with ${option} which field of a lead is its id`;

function pointerFault(
  fault: Extract<SpansAt, { readonly ok: false }>,
  path: readonly string[],
  { saidBy, option }: LeadAtNames,
): string {
  const at = pointerText(fault.path);
  if (fault.kind === 'nothing') {
    if (saidBy === undefined)
      return `only a part of the body has a lead at ${pointerText(path)}: at ${at} is nothing, or more than one thing`;
    const where = fault.path.length === path.length ? '' : ` (${pointerText(path)})`;
    return `there is nothing at ${at}${where}, where ${saidBy} says that the lead is`;
  }
  const all = [...fault.path, '*', ...path.slice(fault.path.length + 1)];
  const hint = option === undefined ? '' : `; ${option} ${pointerText(all)} takes all of them`;
  return `the array at ${at} has ${fault.count} elements, of which ${pointerText(path)} takes one${hint}`;
}

/**
 * The objects in a body that may be leads, whatever the receiver makes of them: a receiver takes all leads of a delivery or
 * none, so that those of a rejected one are known all the same.
 */
export function possibleLeads(body: Uint8Array, at: LeadAt, idField: IdField): readonly Uint8Array[] {
  const document = readDocument(body);
  if (!document.ok) return [];
  const { json, start, end } = document;
  return possiblePaths(document, at, idField).flatMap((path) => {
    const found = spansAt(json, path, { start, end });
    const places = found.ok ? found.spans : [];
    return places
      .flatMap((place) => (json[place.start] === openBracket ? elementsAt(json, place.start) : [place]))
      .map((place) => json.subarray(place.start, place.end));
  });
}

function possiblePaths(
  { json, start, end }: Document,
  at: LeadAt,
  idField: IdField,
): readonly (readonly string[])[] {
  if (at !== 'auto') return [at];
  const reading = findLeads(JSON.parse(json.toString('utf8', start, end)) as Json, idField.name);
  if (reading.kind === 'one' || reading.kind === 'deletion') return [reading.path];
  return reading.kind === 'none' ? [] : reading.paths;
}

const pointerText = (path: readonly string[]): string => (path.length === 0 ? "''" : formatPointer(path));

export type ReadLead =
  | {
      readonly ok: true;
      readonly lead: RawLead;
      readonly warnings: readonly string[];
    }
  | Unread;

interface Unread {
  readonly ok: false;
  readonly detail: string;
  readonly lacksId?: true | undefined;
}

/**
 * Reads one lead, such as a webhook body: strict JSON in UTF-8, one object, with a usable id (a string or an integer,
 * not repeated as a key), by the field that identifies it. Any other deviation from section 2 of the
 * specification is a warning. `detail` says in a few words what is wrong, and quotes nothing but single characters.
 */
export function readLead(bytes: Uint8Array, idField: IdField = plainId): ReadLead {
  const document = readDocument(bytes);
  return document.ok ? leadOf(document, idField) : { ok: false, detail: documentDetail(document.fault) };
}

/** Reads the lead that a document is, directly after it was read; `value` is the document where it was parsed before. */
function leadOf(document: Document, { name: idName, recordIn }: IdField, value?: Json): ReadLead {
  const { json, start, end, hasByteOrderMark } = document;
  if (json[start] !== openBrace) return { ok: false, detail: 'the body is not a JSON object' };
  const lead =
    recordIn === undefined
      ? recordAt(json, scanner.lastRow(), 0)
      : recordIn(compact(json.subarray(start, end)));
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
  const record = (value ?? JSON.parse(json.toString('utf8', start, end))) as JsonObject;
  const warnings = deviationsOf(record, idName);
  return {
    ok: true,
    lead,
    warnings: hasByteOrderMark ? ['starts with a byte order mark', ...warnings] : warnings,
  };
}

type JsonObject = { readonly [key: string]: Json };

/** The deviations of a record from section 2 of the specification, in a few words each; unknown fields are none. */
export function deviationsOf(record: JsonObject, idName = plainId.name): string[] {
  const deviations: string[] = [];
  if (typeof idIn(record, idName) !== 'string') deviations.push(`${idName} is not a string`);
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
  const nested = members.flatMap(({ name, start }) =>
    document.ok ? membersAt(document.json, start).map((inner) => `${name}.${inner.name}`) : [],
  );
  const fields = [
    plainId,
    ...[...members.map(({ name }) => name), ...nested].map((name) => idFieldNamed(name)),
  ];
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
