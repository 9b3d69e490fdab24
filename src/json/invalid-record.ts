import { closeBracket, comma, endOfContainer, sha256, skipSpace } from './bytes.ts';
import { ScannedRecord } from './scanned-record.ts';
import { scanner } from './scanner.ts';

/**
 * A record of a page that is not valid JSON. It keeps its place in the list by its id, and holds nothing
 * else.
 */
export class InvalidRecord extends ScannedRecord {
  readonly nth: number;
  /** The position of the unexpected byte in the whole answer; undefined for bytes that are not UTF-8. */
  readonly offset: number | undefined;
  /** The id that can be read in the text; without it, `id` is a digest of the text. */
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
    super(bytes, scanner.rowOf(bytes), 0);
    this.nth = place.nth;
    this.offset = place.offset;
    this.readableId = id === undefined ? undefined : this.id;
  }
}

export function readableId(text: Buffer, idName = 'id'): string | undefined {
  const value = valueOf(text, idName);
  return value === undefined ? undefined : String(JSON.parse(value));
}

function valueOf(text: Buffer, name: string): string | undefined {
  const lastName = name.slice(name.lastIndexOf('.') + 1);
  const key = JSON.stringify(lastName).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const [, value] =
    new RegExp(
      String.raw`${key}\s*:\s*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"|-?(?:0|[1-9]\d*)(?=[\s,}]))`,
    ).exec(text.toString('utf8', 0, longestSearch)) ?? [];
  return value;
}

/** The part of a record that is searched for its id, in bytes. */
const longestSearch = 64 * 1024;

/**
 * Finds the end of an object that is not valid JSON, by its brackets outside of strings. Undefined while it
 * may continue, and -1 where the next byte cannot follow an element of an array.
 */
export function endOfInvalid(buf: Buffer, start: number): number | undefined {
  const end = endOfContainer(buf, start);
  const next = skipSpace(buf, end, buf.length);
  if (next >= buf.length) return undefined;
  return buf[next] === comma || buf[next] === closeBracket ? end : -1;
}
