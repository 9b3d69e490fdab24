import { compact, decodeString, isDigit, openBrace, quote, sha256 } from './bytes.ts';
import { readDocument } from './document.ts';
import { type Json, parseExact } from './exact.ts';
import { attributesOf, mayHoldResources } from './resource.ts';
import { idKinds, row, scanner } from './scanner.ts';

/**
 * A record with its id, creation time and category. Views and strings are created only when they are read: of
 * a million records, most need none.
 */
export class ScannedRecord {
  /** The record is `source[start, end)`; writers copy many records at once. */
  readonly source: Buffer;
  readonly #rows: Int32Array;
  readonly #rowOffset: number;

  /** The row of the scanner at `rowOffset` must belong to a compact record. */
  constructor(source: Buffer, rows: Int32Array, rowOffset: number) {
    this.source = source;
    this.#rows = rows;
    this.#rowOffset = rowOffset;
  }

  get start(): number {
    return this.#rows[this.#rowOffset + row.start] as number;
  }

  get end(): number {
    return this.#rows[this.#rowOffset + row.end] as number;
  }

  get bytes(): Buffer {
    return this.source.subarray(this.start, this.end);
  }

  get idKind(): number {
    return this.#rows[this.#rowOffset + row.idKind] as number;
  }

  /** Whether the id is `source[idStart, idEnd)` without any decoding. */
  get hasPlainId(): boolean {
    return this.idKind === idKinds.plain;
  }

  get idStart(): number {
    return this.#rows[this.#rowOffset + row.idStart] as number;
  }

  get idEnd(): number {
    return this.#rows[this.#rowOffset + row.idEnd] as number;
  }

  get hasId(): boolean {
    return this.hasPlainId || this.idKind === idKinds.escaped;
  }

  /**
   * A non-empty string, or the digits of an integer: 7 and "7" are the same id, so that a service that
   * changes the type sends no new records. A repeated `id` key is not usable.
   */
  get id(): string | undefined {
    if (this.hasPlainId) return this.source.toString('utf8', this.idStart, this.idEnd);
    return this.hasId ? decodeString(this.source, this.idStart - 1, this.idEnd + 1) : undefined;
  }

  /** A string, or the digits of a number, because many services count seconds. */
  get createdAt(): string | undefined {
    const [start, end] = this.#span(row.createdStart, row.createdEnd);
    if (end === 0) return this.#attribute('createdAt');
    const isNumber = end > start && isDigit(this.source[start] ?? 0);
    return isNumber ? this.source.toString('latin1', start, end) : this.#string(start, end);
  }

  get category(): string | undefined {
    const [start, end] = this.#span(row.categoryStart, row.categoryEnd);
    return end === 0 ? this.#attribute('category') : this.#string(start, end);
  }

  /** In JSON:API the fields of a record are in a member `attributes`, which the scanner does not enter. */
  #attribute(name: 'createdAt' | 'category'): string | undefined {
    const { bytes } = this;
    if (!mayHoldResources(bytes)) return undefined;
    const value: Json | undefined = attributesOf(parseExact(bytes.toString('utf8')))?.[name];
    if (typeof value === 'number' && name === 'createdAt') return String(value);
    return typeof value === 'string' ? value : undefined;
  }

  #span(start: number, end: number): readonly [start: number, end: number] {
    return [this.#rows[this.#rowOffset + start] as number, this.#rows[this.#rowOffset + end] as number];
  }

  #string(start: number, end: number): string | undefined {
    return end > start && this.source[start] === quote ? decodeString(this.source, start, end) : undefined;
  }
}

/** Returns the record of a row, as a compact copy where it has white space. This loads the copy into the scanner. */
export function recordAt(source: Buffer, rows: Int32Array, rowOffset: number): ScannedRecord {
  const record = new ScannedRecord(source, rows, rowOffset);
  if (rows[rowOffset + row.spaced] === 0) return record;
  return scannedRecord(compact(record.bytes));
}

/** Returns a valid and compact object as a record. Loads it into the scanner. */
export function scannedRecord(json: Buffer): ScannedRecord {
  return new ScannedRecord(json, scanner.rowOf(json), 0);
}

/** Undefined where a body is not strict JSON, or no object. */
export function recordOf(body: Uint8Array): ScannedRecord | undefined {
  const document = readDocument(body);
  if (!document.ok || document.json[document.start] !== openBrace) return undefined;
  return recordAt(document.json, document.row, 0);
}

/**
 * Stands for a record that is not valid JSON or not UTF-8, so that it keeps its place in the list. Its bytes
 * are an object with the id and the creation time that can be read in the text, and nothing else; without a
 * `readableId`, the id is a digest of the text. `nth` is its number in the page, from 1, and `offset` the
 * position of the unexpected byte in the whole answer; undefined for bytes that are not UTF-8.
 */
export class InvalidRecord extends ScannedRecord {
  readonly nth: number;
  readonly offset: number | undefined;
  readonly readableId: string | undefined;

  constructor(
    text: Buffer,
    idName: string | undefined,
    place: { readonly nth: number; readonly offset?: number },
  ) {
    const id = scalarIn(text, idName ?? 'id');
    const createdAt = scalarIn(text, 'createdAt');
    const time = createdAt === undefined ? '' : `,"createdAt":${createdAt}`;
    const bytes = Buffer.from(`{"id":${id ?? JSON.stringify(sha256(text).toString('hex'))}${time}}`);
    super(bytes, scanner.rowOf(bytes), 0);
    this.nth = place.nth;
    this.offset = place.offset;
    this.readableId = id === undefined ? undefined : this.id;
  }
}

/** Returns the first id in a text that need not be JSON, for messages. */
export function readableIdIn(text: Buffer, idName = 'id'): string | undefined {
  const value = scalarIn(text, idName);
  return value === undefined ? undefined : String(JSON.parse(value));
}

const maxSearchedBytes = 64 * 1024;

/**
 * Returns the JSON text of the string without `\u` escapes, or of the integer, that first follows this key, at
 * any depth: of a dotted name, the last part is searched for.
 */
function scalarIn(text: Buffer, name: string): string | undefined {
  const lastName = name.slice(name.lastIndexOf('.') + 1);
  const key = JSON.stringify(lastName).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const [, value] =
    new RegExp(
      String.raw`${key}\s*:\s*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"|-?(?:0|[1-9]\d*)(?=[\s,}]))`,
    ).exec(text.toString('utf8', 0, maxSearchedBytes)) ?? [];
  return value;
}
