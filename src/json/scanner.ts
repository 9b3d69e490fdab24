import type { KindsOf } from '../errors.ts';
import { isUtf8 } from 'node:buffer';
import { scanWasm } from './scan.wasm.ts';
import {
  bufferOf,
  compact,
  isDigit,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  unexpectedAfter,
} from './bytes.ts';
import { type Json, parseExact } from './exact.ts';
import { attributesOf, mayHoldResources } from './resource.ts';

/** A result: more bytes are needed to find the end of a value. */
export const incomplete = -1;

/** A result below `incomplete` means that the text is not JSON, and says where the unexpected byte is. */
export const invalidAt = (offset: number): number => -2 - offset;
export const unexpectedAt = (result: number): number => -2 - result;

/** What an array of records expects next. */
export const expects = { firstRecord: 0, nextRecord: 1, separator: 2, nothing: 3 } as const;
export type Expects = (typeof expects)[keyof typeof expects];

/** How a scan of records ended, if its result is not negative. */
export const endings = { ended: 0, rowsFull: 1, noObject: 2 } as const;

/** The kinds of an object's `id`. */
export const idKinds = { missing: 0, asItStands: 1, escaped: 2, unusable: 3, repeated: 4 } as const;

/** A row is a record's positions in the text, as 32-bit words: 0 and 0 where an object has no such key. */
export const row = {
  start: 0,
  end: 1,
  /** The content of the id: of a string without its quotes. */
  idStart: 2,
  idEnd: 3,
  idKind: 4,
  createdStart: 5,
  createdEnd: 6,
  categoryStart: 7,
  categoryEnd: 8,
  /** 1 if there is white space between the tokens of the record. */
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

/** The layout of memory: what a scan of records found and its rows, as word indexes; the text, as a byte index. */
const foundAt = 4;
const rowsAt = 512;
const textAt = 65536;

export interface Records {
  /** `incomplete`, or lower for a text that is not JSON, or one of `endings`. */
  readonly result: number;
  /** `row.size` words for each record. */
  readonly rows: Int32Array;
  /** The position after the last byte that belongs to a record or a separator. */
  readonly done: number;
  readonly expects: Expects;
}

/** The parts that are used here: TypeScript declares them only together with the browser's API. */
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
 * Finds where JSON values end, and checks their grammar (RFC 8259; the caller checks UTF-8, natively and for many records
 * at once). Records where `id`, `createdAt` and `category` of an object are. There is one text at a time: nothing else
 * may be loaded before its scan is complete.
 */
export const scanner = {
  load(buf: Uint8Array): void {
    scan.reserve(buf.length);
    refreshViews();
    bytes.set(buf, textAt);
  },

  /** The position after the value that starts at `start`; or `incomplete`, or lower for a text that is not JSON. */
  valueEnd: (start: number): number => scan.value(start),

  /** The row of the value that `valueEnd` scanned last. */
  lastRow(): Int32Array {
    refreshViews();
    return words.slice(rowsAt, rowsAt + row.size);
  },

  /** The records of an array from `from` on, as long as they are complete and there is space for rows. */
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

/** The object that a body is, as a record; undefined where it is none. */
export function recordOf(body: Uint8Array): ScannedRecord | undefined {
  const document = readDocument(body);
  if (!document.ok || document.json[document.start] !== openBrace) return undefined;
  return recordAt(document.json, scanner.lastRow(), 0);
}

/** The value of a valid string token; the span includes its quotes. */
export function decodeString(buf: Buffer, start: number, end: number): string {
  const text = buf.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Why a document is not strict JSON in UTF-8. `offset`: of the unexpected byte. */
export type DocumentFault = KindsOf<{
  'not-utf8': unknown;
  empty: unknown;
  'not-json': unknown;
  'ends-early': unknown;
  'unexpected-byte': { byte: number; offset: number };
}>;

export type Document =
  | {
      readonly ok: true;
      readonly json: Buffer;
      /** The position of its one value. */
      readonly start: number;
      readonly end: number;
      readonly hasByteOrderMark: boolean;
    }
  | { readonly ok: false; readonly fault: DocumentFault };

/**
 * Checks that a body is strict JSON in UTF-8, and loads it into the scanner, whose last row is then that of its value.
 */
export function readDocument(body: Uint8Array): Document {
  const json = bufferOf(body);
  if (!isUtf8(json)) return failed({ kind: 'not-utf8' });
  const hasByteOrderMark = json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf;
  const start = skipSpace(json, hasByteOrderMark ? 3 : 0, json.length);
  if (start === json.length) return failed({ kind: 'empty' });
  scanner.load(json);
  const end = scanner.valueEnd(start);
  const isContainer = json[start] === openBrace || json[start] === openBracket;
  if (end < 0 && !isContainer) return failed({ kind: 'not-json' });
  if (end === incomplete) return failed({ kind: 'ends-early' });
  const unexpected = end < 0 ? unexpectedAt(end) : unexpectedAfter(json, end, json.length);
  if (unexpected !== undefined) {
    return failed({ kind: 'unexpected-byte', byte: json[unexpected] ?? 0, offset: unexpected });
  }
  return { ok: true, json, start, end, hasByteOrderMark };
}

const failed = (fault: DocumentFault): Document => ({ ok: false, fault });
