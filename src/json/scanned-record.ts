import { compact, decodeString, isDigit, openBrace, quote } from './bytes.ts';
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

  /** JSON:API has the fields of a record one level further in. */
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

export function recordAt(source: Buffer, rows: Int32Array, offset: number): ScannedRecord {
  const record = new ScannedRecord(source, rows, offset);
  if (rows[offset + row.spaced] === 0) return record;
  return scannedRecord(compact(record.bytes));
}

/** Returns a valid and compact object as a record. Loads it into the scanner. */
export function scannedRecord(json: Buffer): ScannedRecord {
  return new ScannedRecord(json, scanner.rowOf(json), 0);
}

export function recordOf(body: Uint8Array): ScannedRecord | undefined {
  const document = readDocument(body);
  if (!document.ok || document.json[document.start] !== openBrace) return undefined;
  return recordAt(document.json, document.row, 0);
}
