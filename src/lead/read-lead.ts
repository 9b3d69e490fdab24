import { openBrace } from '../json/bytes.ts';
import { isObject, type Json } from '../json/exact.ts';
import { readDocument } from '../json/read-document.ts';
import { recordAt } from '../json/scanned-record.ts';
import { idKinds, row, scanner } from '../json/scanner.ts';
import { readCreatedAt } from './created-at.ts';
import type { RawLead } from './raw-lead.ts';

export type ReadLead =
  | {
      readonly ok: true;
      readonly lead: RawLead;
      readonly warnings: readonly string[];
      /** Whether it has one of the fields that only a lead has beside its id: see `leadFields`. */
      readonly hasLeadField: boolean;
    }
  | { readonly ok: false; readonly detail: string };

/** Fields of section 2 of the specification that tell a lead from an envelope, which may have an id as well. */
export const leadFields = ['category', 'contact', 'createdAt'] as const;

/**
 * Reads one lead, such as a webhook body: strict JSON in UTF-8, one object, with a usable `id` (a string or an integer,
 * not repeated as a key). Any other deviation from section 2 of the specification is a warning. `detail` says in a few
 * words what is wrong, and quotes nothing but single characters.
 */
export function readLead(bytes: Uint8Array): ReadLead {
  const document = readDocument(bytes);
  if (!document.ok) return document;
  const { json, start, hasByteOrderMark } = document;
  if (json[start] !== openBrace) return { ok: false, detail: 'the body is not a JSON object' };
  const rows = scanner.lastRow();
  if (rows[row.idKind] === idKinds.repeated) {
    return { ok: false, detail: "the key 'id' occurs more than once" };
  }
  const lead = recordAt(json, rows, 0);
  if (!lead.hasId) {
    const isMissing = rows[row.idKind] === idKinds.missing;
    return { ok: false, detail: isMissing ? "there is no 'id'" : "'id' is no string or integer" };
  }
  // Only the types of the fields are checked, so numbers need not be exact.
  const record = JSON.parse(lead.bytes.toString('utf8')) as Json;
  const warnings = isObject(record) ? deviationsOf(record) : [];
  return {
    ok: true,
    lead,
    warnings: hasByteOrderMark ? ['starts with a byte order mark', ...warnings] : warnings,
    hasLeadField: isObject(record) && leadFields.some((name) => Object.hasOwn(record, name)),
  };
}

type JsonObject = { readonly [key: string]: Json };

/** The deviations of a record from section 2 of the specification, in a few words each; unknown fields are none. */
export function deviationsOf(record: JsonObject): string[] {
  const deviations: string[] = [];
  if (typeof record['id'] !== 'string') deviations.push('id is not a string');
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
    readCreatedAt(value) !== undefined
  );
}
