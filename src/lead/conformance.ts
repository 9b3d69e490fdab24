import { isObject, type Json } from '../json/exact.ts';
import { readCreatedAt } from './created-at.ts';

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
