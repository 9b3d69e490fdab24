import { isUtf8 } from 'node:buffer';
import { scanWasm } from './scan.wasm.ts';
import {
  bufferOf,
  compact,
  describeByte,
  isDigit,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  unexpectedAfter,
} from './bytes.ts';
import { type Json, parseExact } from './exact.ts';
import { attributesOf, mayHoldResources } from './resource.ts';

/** A result: the end of a value needs more bytes. */
export const incomplete = -1;

/** A result below `incomplete` holds the position of a byte that is not JSON. */
export const invalidAt = (offset: number): number => -2 - offset;
export const unexpectedAt = (result: number): number => -2 - result;

export const expects = { firstRecord: 0, nextRecord: 1, separator: 2, nothing: 3 } as const;
export type Expects = (typeof expects)[keyof typeof expects];

export const endings = { ended: 0, rowsFull: 1, noObject: 2 } as const;

export const idKinds = { missing: 0, asItStands: 1, escaped: 2, unusable: 3, repeated: 4 } as const;

/**
 * A row holds positions of a record in the text as 32-bit words: 0 and 0 where the object has no such key.
 */
export const row = {
  start: 0,
  end: 1,
  /** The content of the id, without the quotes of a string. */
  idStart: 2,
  idEnd: 3,
  idKind: 4,
  createdStart: 5,
  createdEnd: 6,
  categoryStart: 7,
  categoryEnd: 8,
  spaced: 9,
  size: 10,
} as const;

/** The memory and the functions of `wasm/scan.ts`. */
interface Module {
  readonly memory: { readonly buffer: ArrayBuffer };
  reserve(length: number): void;
  value(start: number): number;
  records(from: number, expecting: number): number;
}

/**
 * The layout of the memory: word indexes of the result of a scan of records and of its rows, and the byte
 * index of the text.
 */
const foundAt = 4;
const rowsAt = 512;
const textAt = 65536;

export interface Records {
  /** `incomplete`, or lower for a text that is not JSON, or a member of `endings`. */
  readonly result: number;
  readonly rows: Int32Array;
  /** The position after the last byte that belongs to a record or a separator. */
  readonly done: number;
  readonly expects: Expects;
}

/** TypeScript declares these only together with the browser's API. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Module };
};

const { memory, ...scan } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(scanWasm, 'base64')),
  {
    // The name of the AssemblyScript file that declares the import.
    text: {
      noMemory() {
        throw new RangeError('Cannot grow Wasm memory');
      },
    },
  },
).exports;

let bytes = new Uint8Array(memory.buffer);
let words = new Int32Array(memory.buffer);

/** Growing the memory detaches its views, and every scan may grow it. */
function refreshViews(): void {
  if (bytes.length > 0) return;
  bytes = new Uint8Array(memory.buffer);
  words = new Int32Array(memory.buffer);
}

/**
 * Finds the ends of JSON values, and checks their grammar (RFC 8259); callers check UTF-8, natively and for
 * many records at once. Records the positions of `id`, `createdAt` and `category` of an object. It holds one
 * text at a time: load no other before its scan is complete.
 */
export const scanner = {
  load(buf: Uint8Array): void {
    scan.reserve(buf.length);
    refreshViews();
    bytes.set(buf, textAt);
  },

  /**
   * Returns the position after the value at `start`; or `incomplete`, or lower for a text that is not JSON.
   */
  valueEnd: (start: number): number => scan.value(start),

  lastRow(): Int32Array {
    refreshViews();
    return words.slice(rowsAt, rowsAt + row.size);
  },

  /** Scans the records of an array from `from` on, as long as they are complete and rows are free. */
  records(from: number, expecting: Expects): Records {
    const result = scan.records(from, expecting);
    refreshViews();
    const rows = words.slice(rowsAt, rowsAt + (words[foundAt] as number) * row.size);
    return {
      result,
      rows,
      done: words[foundAt + 1] as number,
      expects: words[foundAt + 2] as Expects,
    };
  },
};

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
  scanner.load(json);
  scanner.valueEnd(0);
  return new ScannedRecord(json, scanner.lastRow(), 0);
}

export function recordOf(body: Uint8Array): ScannedRecord | undefined {
  const document = readDocument(body);
  if (!document.ok || document.json[document.start] !== openBrace) return undefined;
  return recordAt(document.json, scanner.lastRow(), 0);
}

/** Returns the value of a valid string token; the span includes its quotes. */
export function decodeString(buf: Buffer, start: number, end: number): string {
  const text = buf.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

export type Document =
  | {
      readonly ok: true;
      readonly json: Buffer;
      readonly start: number;
      readonly end: number;
      readonly hasByteOrderMark: boolean;
    }
  | { readonly ok: false; readonly detail: string };

/**
 * Checks that a body is strict JSON in UTF-8, and loads it into the scanner, whose last row is then that of
 * its value. `detail` names the fault of the `subject`, and quotes no more than a character, because a body
 * may hold a secret.
 */
export function readDocument(body: Uint8Array, subject = 'the body'): Document {
  const json = bufferOf(body);
  if (!isUtf8(json)) return { ok: false, detail: `${subject} is not UTF-8` };
  const hasByteOrderMark = json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf;
  const start = skipSpace(json, hasByteOrderMark ? 3 : 0, json.length);
  if (start === json.length) return { ok: false, detail: `${subject} is empty` };
  scanner.load(json);
  const end = scanner.valueEnd(start);
  const isContainer = json[start] === openBrace || json[start] === openBracket;
  if (end < 0 && !isContainer) return { ok: false, detail: `${subject} is not JSON` };
  if (end === incomplete) return { ok: false, detail: 'the JSON ends too early' };
  const unexpected = end < 0 ? unexpectedAt(end) : unexpectedAfter(json, end, json.length);
  if (unexpected === undefined) return { ok: true, json, start, end, hasByteOrderMark };
  const byte = describeByte(json[unexpected] ?? 0);
  return { ok: false, detail: `${subject} is not JSON: unexpected ${byte} at byte ${unexpected}` };
}
