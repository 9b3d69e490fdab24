import { compact, describeByte, openBrace, openBracket, quote } from '../json/bytes.ts';
import { isObject, type Json } from '../json/exact.ts';
import { elementsAt, identifiedRecord, membersAt, type Span, spansAt } from '../json/members.ts';
import {
  decodeString,
  type DocumentFault,
  idKinds,
  readDocument,
  recordAt,
  type ScannedRecord,
  scanner,
} from '../json/scanner.ts';
import { parseIsoTime } from '../time/time-text.ts';
import { findLeads, idIn } from './find-leads.ts';
import { idHint, type LeadAtNames, pointerRefusal, pointerText, refusalOf } from './refusals.ts';
import type { RawLead } from './raw-lead.ts';

/** The reference tokens of a JSON Pointer (RFC 6901) to the lead in a body, where `*` steps through an array; or `auto`. */
export type LeadAt = readonly string[] | 'auto';

/** The field that identifies a lead. */
export interface IdField {
  /** A field inside an object has the names on the way to it, with dots between them: `contact.id`. */
  readonly name: string;
  /** Messages name this setting, which can name another field; absent where none can. */
  readonly option?: string | undefined;
  /** Reads a compact record by this field; absent for `id`, which the scanner finds. */
  readonly recordIn?: ((json: Buffer) => ScannedRecord) | undefined;
}

/** The field of the specification. */
export const plainId: IdField = { name: 'id' };

/** A lead of a body. */
export interface FoundLead {
  readonly lead: RawLead;
  /** The position of its bytes in the body; undefined when the body is the lead. */
  readonly place?: Span | undefined;
  /** The pointer that leads to it, in which `*` steps through an array; undefined when the body is the lead. */
  readonly pointer?: string | undefined;
  /** Deviations from the specification that are no reason to reject a lead. */
  readonly warnings: readonly string[];
}

export type ReadLeads =
  | { readonly ok: true; readonly leads: readonly FoundLead[] }
  | { readonly ok: false; readonly detail: string; readonly isTooMany?: true };

type Document = Extract<ReturnType<typeof readDocument>, { readonly ok: true }>;

/** A body may hold so many leads: all of them are stored in one transaction. */
const maxLeads = 1000;

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
  return { ok: false, detail: refusalOf(reading, value, names.option, idField) };
}

const theBody = (read: ReadLead): ReadLeads =>
  read.ok ? { ok: true, leads: [{ lead: read.lead, warnings: read.warnings }] } : read;

/** Reads the leads at a path that a person named, or that `findLeads` found: then `names` says nothing of who named it. */
function leadsAt(
  { json, start, end }: Document,
  path: readonly string[],
  names: LeadAtNames,
  idField: IdField,
): ReadLeads {
  const pointer = pointerText(path);
  const tooMany: ReadLeads = {
    ...{ ok: false, isTooMany: true },
    detail: `there are more than ${maxLeads} leads at ${pointer}`,
  };
  const spans = spansAt(json, path, { start, end }, maxLeads);
  if (!spans.ok) {
    return spans.kind === 'many' ? tooMany : { ok: false, detail: pointerRefusal(spans, path, names) };
  }
  const places: Span[] = [];
  let isArray = path.includes('*');
  for (const span of spans.spans) {
    if (json[span.start] === openBracket) {
      isArray = true;
      places.push(...elementsAt(json, span.start, maxLeads + 1));
    } else if (json[span.start] === openBrace || isArray) places.push(span);
    else return { ok: false, detail: `what is at ${pointer} is no object and no array` };
  }
  if (places.length === 0) return { ok: false, detail: `the array at ${pointer} is empty` };
  if (places.length > maxLeads) return tooMany;
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

/** Finds the objects in a body that may be leads, also where the receiver rejected it: it stores all leads of a body or none. */
export function possibleLeads(body: Uint8Array, at: LeadAt, idField: IdField): readonly Uint8Array[] {
  const document = readDocument(body);
  if (!document.ok) return [];
  const { json, start, end } = document;
  return possiblePaths(document, at, idField).flatMap((path) => {
    const spans = spansAt(json, path, { start, end });
    return (spans.ok ? spans.spans : [])
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
  if (reading.kind === 'none') return [];
  return 'path' in reading ? [reading.path] : reading.paths;
}

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

/** Names where a record deviates from section 2 of the specification. A field that the specification lacks is no deviation. */
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
  const paths = document.ok ? pathsTo(leadId, document.json, document.start) : [];
  const fields = paths
    .toSorted((path, other) => path.length - other.length)
    .map((path) => idFieldNamed(path.join('.')));
  const holdsId = (field: IdField): boolean => {
    const read = readLead(bytes, field);
    return read.ok && read.lead.id === leadId;
  };
  return [plainId, ...fields].find(holdsId) ?? plainId;
}

/** So many names lead to an id at most, as in `contact.ids.main`. */
const longestIdPath = 8;

/** The names that lead to a text or a number which may be this id. The scanner must hold this JSON. */
function pathsTo(leadId: string, json: Buffer, start: number, above: readonly string[] = []): string[][] {
  return membersAt(json, start).flatMap((member) => {
    const path = [...above, member.name];
    if (json[member.start] === openBrace)
      return path.length < longestIdPath ? pathsTo(leadId, json, member.start, path) : [];
    const isText = json[member.start] === quote;
    const text = isText
      ? decodeString(json, member.start, member.end)
      : json.toString('latin1', member.start, member.end);
    return text === leadId ? [path] : [];
  });
}

/** Says what is wrong with a document, and quotes no more than a single character, since a body may hold a secret. */
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
