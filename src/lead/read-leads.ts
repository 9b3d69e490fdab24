import { compact, openBrace, openBracket } from '../json/bytes.ts';
import { isObject, type Json, parseExact } from '../json/exact.ts';
import { identifiedRecord } from '../json/lead-reader.ts';
import { membersAt, type Span, spansAtPattern } from '../json/members.ts';
import { idKinds } from '../json/scanner.ts';
import { readDocument } from '../json/document.ts';
import { recordAt } from '../json/scanned-record.ts';
import { parseIsoTime } from '../time/time-text.ts';
import { findLeads, type IdField, idIn } from './find-leads.ts';
import { idHint, type LeadAtNames, pointerRefusal, pointerText, refusalOf } from './refusals.ts';
import type { RawLead } from './raw-lead.ts';

/**
 * The reference tokens of a JSON Pointer (RFC 6901) to the lead in a body, where `*` steps through an array;
 * or `auto`.
 */
export type LeadAt = readonly string[] | 'auto';

export const plainId: IdField = { name: 'id' };

/**
 * A lead of a body: the position of its bytes, and the pointer to it, in which `*` steps through an array; both are
 * undefined when the body is the lead. `warnings` are deviations from the specification that are no reason to reject it.
 */
export interface FoundLead {
  readonly lead: RawLead;
  readonly place?: Span | undefined;
  readonly pointer?: string | undefined;
  readonly warnings: readonly string[];
}

export type ReadLeads =
  | { readonly ok: true; readonly leads: readonly FoundLead[] }
  | { readonly ok: false; readonly detail: string; readonly isTooMany?: true };

type Document = Extract<ReturnType<typeof readDocument>, { readonly ok: true }>;

/** All leads of a body are stored in one transaction. */
const maxLeads = 1000;

/**
 * Reads all leads of a body, at least one, or none of them. `auto` takes the only place where a lead can be,
 * by `findLeads`. In a pointer, `*` steps through all elements of an array, and an array at its end means all
 * its elements. An index is refused where the array has more elements, because a 200 would lose those.
 */
export function readLeads(
  body: Uint8Array,
  leadAt: LeadAt,
  names: LeadAtNames = {},
  idField: IdField = plainId,
): ReadLeads {
  const document = readDocument(body);
  if (!document.ok) return { ok: false, detail: document.detail };
  if (leadAt !== 'auto') return leadsAt(document, leadAt, names, idField);
  const value = valueOf(document);
  const reading = findLeads(value, idField.name);
  if (reading.kind !== 'one') return { ok: false, detail: refusalOf(reading, value, names.option, idField) };
  if (reading.path.length > 0) return leadsAt(document, reading.path, {}, idField);
  return onlyLead(leadOf(document, idField, value), idField);
}

const onlyLead = (read: ReadLead, idField: IdField): ReadLeads =>
  read.ok
    ? { ok: true, leads: [{ lead: read.lead, warnings: read.warnings }] }
    : { ok: false, detail: detailOf(read, idField) };

const detailOf = ({ detail, lacksId }: Unread, idField: IdField): string =>
  lacksId === true ? detail + idHint(idField) : detail;

const textOf = ({ json, start, end }: Document): string => json.toString('utf8', start, end);

const valueOf = (document: Document): Json => JSON.parse(textOf(document)) as Json;

/** `names` is empty for a path that `findLeads` found: a message then names no flag. */
function leadsAt(
  document: Document,
  path: readonly string[],
  names: LeadAtNames,
  idField: IdField,
): ReadLeads {
  const { json, start, end } = document;
  if (path.length === 0 && json[start] === openBrace) return onlyLead(leadOf(document, idField), idField);
  const pointer = pointerText(path);
  const tooManyLeads = `there are more than ${maxLeads} leads at ${pointer}`;
  const tooMany: ReadLeads = { ok: false, isTooMany: true, detail: tooManyLeads };
  const values = spansAtPattern(json, path, { start, end }, maxLeads);
  if (!values.ok)
    return values.kind === 'many' ? tooMany : { ok: false, detail: pointerRefusal(values, path, names) };
  const places = elementsOf(json, values.spans, maxLeads + 1);
  if (places.length > maxLeads) return tooMany;
  const isArray = path.includes('*') || json[values.spans[0]?.start ?? 0] === openBracket;
  const [first] = places;
  if (first === undefined) return { ok: false, detail: `the array at ${pointer} is empty` };
  if (!isArray && json[first.start] !== openBrace)
    return { ok: false, detail: `what is at ${pointer} is no object and no array` };
  const leads: FoundLead[] = [];
  for (const place of places) {
    const bytes = json.subarray(place.start, place.end);
    const read = bytes[0] === openBrace ? readLead(bytes, idField) : notObject;
    if (!read.ok) {
      const leadName = isArray ? `lead ${leads.length + 1}` : 'the object';
      return { ok: false, detail: `${leadName} at ${pointer}: ${detailOf(read, idField)}` };
    }
    leads.push({ lead: read.lead, warnings: read.warnings, place, pointer });
  }
  return { ok: true, leads };
}

/** Replaces each array by its elements, of which it reads at most `limit`. */
const elementsOf = (json: Buffer, spans: readonly Span[], limit?: number): readonly Span[] =>
  spans.flatMap((span) => (json[span.start] === openBracket ? membersAt(json, span.start, limit) : [span]));

/**
 * Finds the objects in a body that may be leads, also in a rejected body: the receiver stores all leads of a
 * body or none.
 */
export function possibleLeads(body: Uint8Array, leadAt: LeadAt, idField: IdField): readonly Uint8Array[] {
  const document = readDocument(body);
  if (!document.ok) return [];
  const { json, start, end } = document;
  const reading =
    leadAt === 'auto' ? findLeads(valueOf(document), idField.name) : ({ kind: 'one', path: leadAt } as const);
  if (reading.kind === 'none') return [];
  const paths = reading.kind === 'one' ? [reading.path] : reading.paths;
  return paths.flatMap((path) => {
    const spans = spansAtPattern(json, path, { start, end });
    const places = spans.ok ? elementsOf(json, spans.spans) : [];
    return places.map((place) => json.subarray(place.start, place.end));
  });
}

export type ReadLead =
  { readonly ok: true; readonly lead: RawLead; readonly warnings: readonly string[] } | Unread;

interface Unread {
  readonly ok: false;
  readonly detail: string;
  readonly lacksId?: true | undefined;
}

const notObject: Unread = { ok: false, detail: 'it is not a JSON object' };

/**
 * Reads a lead such as a webhook body: strict JSON in UTF-8, one object, with a usable id (a string or an
 * integer, not a repeated key) in the field that identifies it. Any other deviation from section 2 of the
 * specification is a warning. `detail` names the fault, and quotes nothing but single characters.
 */
export function readLead(bytes: Uint8Array, idField: IdField = plainId): ReadLead {
  const document = readDocument(bytes);
  return document.ok ? leadOf(document, idField) : { ok: false, detail: document.detail };
}

function leadOf(document: Document, { name: idName }: IdField, parsed?: Json): ReadLead {
  const { json, start, end, row, hasByteOrderMark } = document;
  if (json[start] !== openBrace) return notObject;
  const lead =
    idName === plainId.name
      ? recordAt(json, row, 0)
      : identifiedRecord(compact(json.subarray(start, end)), 0, idName);
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
  const record = (parsed ?? valueOf(document)) as JsonObject;
  const warnings = deviationsOf(record, idName);
  return {
    ok: true,
    lead,
    warnings: hasByteOrderMark ? ['starts with a byte order mark', ...warnings] : warnings,
  };
}

type JsonObject = { readonly [key: string]: Json };

/** Describes how a record deviates from section 2 of the specification, which allows further fields. */
export function deviationsOf(record: JsonObject, idName = plainId.name): string[] {
  const deviations: string[] = [];
  const expectText = (object: JsonObject, name: string, prefix = ''): void => {
    const value = object[name];
    if (value === undefined) deviations.push(`${prefix}${name} is missing`);
    else if (typeof value !== 'string') deviations.push(`${prefix}${name} is not a string`);
  };
  const expectObject = (name: string, texts: readonly string[]): void => {
    const value = record[name];
    if (isObject(value)) for (const text of texts) expectText(value, text, `${name}.`);
    else deviations.push(value === undefined ? `${name} is missing` : `${name} is not an object`);
  };
  if (typeof idIn(record, idName) !== 'string') deviations.push(`${idName} is not a string`);
  expectText(record, 'category');
  expectObject('contact', ['name', 'email', 'phone']);
  expectObject('metadata', ['source']);
  expectText(record, 'createdAt');
  const { createdAt } = record;
  if (typeof createdAt === 'string' && !isUtcTimestamp(createdAt))
    deviations.push('createdAt is not an ISO 8601 UTC timestamp');
  return deviations;
}

const isUtcTimestamp = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]00(:?00)?)$/i.test(text) &&
  parseIsoTime(text) !== undefined;

/** Reads a lead that was stored with this id: its field is `id`, or else the one with the shortest path that holds the id. */
export function readStoredLead(bytes: Uint8Array, leadId: string): ReadLead {
  const plain = readLead(bytes);
  if (plain.ok && plain.lead.id === leadId) return plain;
  const document = readDocument(bytes);
  const paths = document.ok ? pathsTo(leadId, parseExact(textOf(document))) : [];
  for (const path of paths.toSorted((a, b) => a.length - b.length)) {
    const read = readLead(bytes, { name: path.join('.') });
    if (read.ok && read.lead.id === leadId) return read;
  }
  return plain;
}

const maxIdDepth = 8;

function pathsTo(leadId: string, value: Json, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object') return String(value) === leadId ? [path] : [];
  if (!isObject(value) || path.length === maxIdDepth) return [];
  return Object.entries(value).flatMap(([name, inner]) => pathsTo(leadId, inner, [...path, name]));
}
