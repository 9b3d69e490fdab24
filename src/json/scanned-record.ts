import { compact, isDigit, quote } from './bytes.ts';
import { type Json, parseExact } from './exact.ts';
import { attributesOf, mayHoldResources } from './resource.ts';
import { idKinds, row, scanner } from './scanner.ts';

/**
 * A record with its id, creation time and category, as the scanner found them. Views and strings are created only when
 * they are read: of a million records, most need none.
 */
export class ScannedRecord {
  /** The record is `source[start, end)`: for writers that copy many records at once. */
  readonly source: Buffer;
  readonly #rows: Int32Array;
  readonly #row: number;

  /** The row at `offset` must belong to a compact record. */
  constructor(source: Buffer, rows: Int32Array, offset: number) {
    this.source = source;
    this.#rows = rows;
    this.#row = offset;
  }

  get start(): number {
    return this.#rows[this.#row + row.start] as number;
  }

  get end(): number {
    return this.#rows[this.#row + row.end] as number;
  }

  get bytes(): Buffer {
    return this.source.subarray(this.start, this.end);
  }

  /** One of `idKinds`. */
  get idKind(): number {
    return this.#rows[this.#row + row.idKind] as number;
  }

  /** Whether the id is `source[idStart, idEnd)` without any decoding. */
  get hasPlainId(): boolean {
    return this.idKind === idKinds.asItStands;
  }

  get idStart(): number {
    return this.#rows[this.#row + row.idStart] as number;
  }

  get idEnd(): number {
    return this.#rows[this.#row + row.idEnd] as number;
  }

  /** Whether there is a usable id; creates no string. */
  get hasId(): boolean {
    return this.hasPlainId || this.idKind === idKinds.escaped;
  }

  /**
   * A non-empty string, or the digits of an integer: 7 and "7" are the same id, so that a service that changes the type
   * sends no new records by that. An `id` key that is repeated is not usable.
   */
  get id(): string | undefined {
    if (this.hasPlainId) return this.source.toString('utf8', this.idStart, this.idEnd);
    return this.hasId ? decodeString(this.source, this.idStart - 1, this.idEnd + 1) : undefined;
  }

  /** A string, or the digits of a number: many services count seconds. */
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

  /** A string or a number one level further in, where JSON:API has the fields of a record. */
  #attribute(name: 'createdAt' | 'category'): string | undefined {
    const { bytes } = this;
    if (!mayHoldResources(bytes)) return undefined;
    const value: Json | undefined = attributesOf(parseExact(bytes.toString('utf8')))?.[name];
    if (typeof value === 'number' && name === 'createdAt') return String(value);
    return typeof value === 'string' ? value : undefined;
  }

  #span(start: number, end: number): readonly [start: number, end: number] {
    return [this.#rows[this.#row + start] as number, this.#rows[this.#row + end] as number];
  }

  #string(start: number, end: number): string | undefined {
    return end > start && this.source[start] === quote ? decodeString(this.source, start, end) : undefined;
  }
}

/** The record of a row. If it has white space between its tokens, it is copied without and scanned again. */
export function recordAt(source: Buffer, rows: Int32Array, offset: number): ScannedRecord {
  const record = new ScannedRecord(source, rows, offset);
  if (rows[offset + row.spaced] === 0) return record;
  const bytes = compact(record.bytes);
  scanner.load(bytes);
  scanner.valueEnd(0);
  return new ScannedRecord(bytes, scanner.lastRow(), 0);
}

/** The value of a valid string token; the span includes its quotes. */
export function decodeString(buf: Buffer, start: number, end: number): string {
  const text = buf.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
