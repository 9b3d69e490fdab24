import {
  backslash,
  bufferOf,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  sha256,
  skipSpace,
} from './bytes.ts';
import { ScannedRecord, scanner } from './scanner.ts';

/** A record of a page that is no JSON: it stands for itself in the list, by its id, and holds nothing else. */
export class InvalidRecord extends ScannedRecord {
  /** Counts the records of the page from 1. */
  readonly nth: number;
  /** The place of the unexpected byte in the whole answer; undefined for bytes that are no UTF-8. */
  readonly offset: number | undefined;
  /** The id that can be read in its text; without one, `id` is a fingerprint of that. */
  readonly readableId: string | undefined;

  constructor(
    text: Buffer,
    idName: string | undefined,
    place: { readonly nth: number; readonly offset?: number },
  ) {
    const id = valueOf(text, idName ?? 'id');
    const createdAt = valueOf(text, 'createdAt');
    const time = createdAt === undefined ? '' : `,"createdAt":${createdAt}`;
    const bytes = Buffer.from(`{"id":${id ?? JSON.stringify(sha256(text).toString('hex'))}${time}}`);
    scanner.load(bytes);
    scanner.valueEnd(0);
    super(bytes, scanner.lastRow(), 0);
    this.nth = place.nth;
    this.offset = place.offset;
    this.readableId = id === undefined ? undefined : this.id;
  }
}

/** The id in the text of a record that is no JSON, as far as it came. */
export function readableId(text: Buffer, idName = 'id'): string | undefined {
  const value = valueOf(text, idName);
  return value === undefined ? undefined : String(JSON.parse(value));
}

/** The first member of that name whose value is a string or a number, as JSON. */
function valueOf(text: Buffer, name: string): string | undefined {
  const own = name.slice(name.lastIndexOf('.') + 1);
  const key = JSON.stringify(own).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const [, value] =
    new RegExp(
      String.raw`${key}\s*:\s*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"|-?(?:0|[1-9]\d*)(?=[\s,}]))`,
    ).exec(text.toString('utf8', 0, longestSearch)) ?? [];
  return value;
}

/** A record is looked through for its id so far, in bytes. */
const longestSearch = 64 * 1024;

/**
 * The end of an object that is no JSON, by its brackets outside of strings; undefined as long as it may go on, and -1 where
 * nothing that follows an element of an array stands behind it.
 */
export function endOfInvalid(buf: Uint8Array, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let i = start; i < buf.length; i += 1) {
    const byte = buf[i];
    if (isString && byte === backslash) i += 1;
    else if (byte === quote) isString = !isString;
    else if (!isString && (byte === openBrace || byte === openBracket)) depth += 1;
    else if (!isString && (byte === closeBrace || byte === closeBracket)) {
      depth -= 1;
      if (depth === 0) return endBefore(buf, i + 1);
    }
  }
  return undefined;
}

function endBefore(buf: Uint8Array, end: number): number | undefined {
  const next = skipSpace(bufferOf(buf), end, buf.length);
  if (next === buf.length) return undefined;
  return buf[next] === comma || buf[next] === closeBracket ? end : -1;
}
