import { isObject, type Json } from '../json/exact.ts';
import { readCreatedAt } from './created-at.ts';

type JsonObject = { readonly [key: string]: Json };

/** How a record departs from section 2 of the specification, a few words each; unknown fields are no departure. */
export function deviationsOf(record: JsonObject): string[] {
  const found: string[] = [];
  if (typeof record['id'] !== 'string') found.push('id is not a string');
  expectText(record, 'category', '', found);
  const contact = expectObject(record, 'contact', found);
  for (const name of contact === undefined ? [] : ['name', 'email', 'phone']) {
    expectText(contact, name, 'contact.', found);
  }
  const metadata = expectObject(record, 'metadata', found);
  if (metadata !== undefined) expectText(metadata, 'source', 'metadata.', found);
  const before = found.length;
  expectText(record, 'createdAt', '', found);
  if (found.length === before && !isUtcTimestamp(record['createdAt'])) {
    found.push('createdAt is not an ISO 8601 UTC timestamp');
  }
  return found;
}

function expectText(object: JsonObject | undefined, name: string, prefix: string, found: string[]): void {
  const value = object?.[name];
  if (value === undefined) found.push(`${prefix}${name} is missing`);
  else if (typeof value !== 'string') found.push(`${prefix}${name} is not a string`);
}

function expectObject(record: JsonObject, name: string, found: string[]): JsonObject | undefined {
  const value = record[name];
  if (isObject(value)) return value;
  found.push(value === undefined ? `${name} is missing` : `${name} is not an object`);
  return undefined;
}

function isUtcTimestamp(value: Json | undefined): boolean {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]00(:?00)?)$/i.test(value) &&
    readCreatedAt(value) !== undefined
  );
}
