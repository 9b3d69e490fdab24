import { isObject, type Json } from './exact.ts';

type Members = { readonly [key: string]: Json };

/** What a resource object may hold (JSON:API 1.1, section 7.2). */
const memberNames: readonly string[] = ['type', 'id', 'lid', 'attributes', 'relationships', 'links', 'meta'];

/** The fields of a record that is a resource object of JSON:API: they are one level further in. */
export function attributesOf(record: Json | undefined): Members | undefined {
  if (!isObject(record) || typeof record['type'] !== 'string' || record['id'] === undefined) return undefined;
  const { attributes } = record;
  if (!isObject(attributes)) return undefined;
  return Object.keys(record).every((name) => memberNames.includes(name)) ? attributes : undefined;
}

/** The members of a record; of a resource object its attributes beside its id. */
export function fieldsOf(record: Members): Members {
  const attributes = attributesOf(record);
  if (attributes === undefined) return record;
  const others = Object.entries(record).filter(([name]) => name !== 'attributes');
  return { ...attributes, ...Object.fromEntries(others) };
}

/** Whether compact JSON may hold resource objects: a quick look, which spares the parsing of all others. */
export const mayHoldResources = (json: Buffer | string): boolean => json.includes('"attributes":{');
