import { isObject, type Json } from './exact.ts';

type Members = { readonly [key: string]: Json };

/** JSON:API 1.1, section 7.2. */
const resourceMembers = ['type', 'id', 'lid', 'attributes', 'relationships', 'links', 'meta'];

/** Returns the attributes of a resource object of JSON:API, which are the fields of its record. */
export function attributesOf(record: Json | undefined): Members | undefined {
  if (!isObject(record) || typeof record['type'] !== 'string' || record['id'] === undefined) return undefined;
  const { attributes } = record;
  if (!isObject(attributes)) return undefined;
  return Object.keys(record).every((name) => resourceMembers.includes(name)) ? attributes : undefined;
}

/** Returns the fields of a record: for a resource object, its attributes beside its other members. */
export function fieldsOf(record: Members): Members {
  const attributes = attributesOf(record);
  if (attributes === undefined) return record;
  const identity = Object.entries(record).filter(([name]) => name !== 'attributes');
  return { ...attributes, ...Object.fromEntries(identity) };
}

/** A quick check of compact JSON, which spares parsing all other records. */
export const mayHoldResources = (json: Buffer | string): boolean => json.includes('"attributes":{');
