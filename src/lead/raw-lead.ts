import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, parseExact } from '../json/exact.ts';
import { attributesOf } from '../json/resource.ts';

/** A lead as its own bytes, and the values read from them: the record is never built again from objects. */
export interface RawLead {
  /** One compact JSON object in UTF-8: exactly the sender's tokens, without white space between them. */
  readonly bytes: Uint8Array;
  /** The value of `id` if it is a string, its digits if it is an integer; otherwise undefined. */
  readonly id: string | undefined;
  /** The value of `createdAt` if it is a string, its digits if it is a number; `readCreatedAt` reads it. */
  readonly createdAt: string | undefined;
  /** The value of `category` if it is a string. */
  readonly category: string | undefined;
}

/**
 * A field by its dot path: `contact.email`, `tags.0`. A key that contains dots itself is found as well, and of JSON:API an
 * attribute by its own name.
 */
export function fieldAt(record: Json | undefined, path: readonly string[]): Json | undefined {
  const found = valueIn(record, path);
  return found === undefined ? valueIn(attributesOf(record), path) : found;
}

function valueIn(record: Json | undefined, path: readonly string[]): Json | undefined {
  if (path.length === 0) return record;
  if (Array.isArray(record)) {
    const [first = '', ...rest] = path;
    return /^\d+$/.test(first) ? valueIn((record as readonly Json[])[Number(first)], rest) : undefined;
  }
  if (!isObject(record)) return undefined;
  for (let length = 1; length <= path.length; length += 1) {
    const key = path.slice(0, length).join('.');
    if (!Object.hasOwn(record, key)) continue;
    const found = valueIn(record[key], path.slice(length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The whole record as a value; integers that a double cannot represent are strings of their digits. */
export function parseLead(lead: Pick<RawLead, 'bytes'>): Json {
  return parseExact(utf8(lead.bytes));
}
