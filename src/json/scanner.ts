import { scanWasm } from './scan.wasm.ts';

/** More bytes are needed to say where a value ends. */
export const incomplete = -1;

/** A result below `incomplete` means "not JSON": where the offending byte lies. */
export const invalidAt = (at: number): number => -2 - at;
export const offenderOf = (result: number): number => -2 - result;

/** What an array of records expects next. */
export const expects = { firstRecord: 0, nextRecord: 1, separator: 2, nothing: 3 } as const;
export type Expects = (typeof expects)[keyof typeof expects];

/** How a scan of records ended, when its result is not negative. */
export const endings = { ended: 0, rowsFull: 1, noObject: 2 } as const;

/** What an object's own `id` is. */
export const idKinds = { missing: 0, asItStands: 1, escaped: 2, unusable: 3, repeated: 4 } as const;

/** Places in the text that a row of 32-bit words holds: 0 and 0 where an object has no such key. */
export const row = {
  start: 0,
  end: 1,
  /** Of the id's content: a string's without its quotes. */
  idStart: 2,
  idEnd: 3,
  idKind: 4,
  createdStart: 5,
  createdEnd: 6,
  categoryStart: 7,
  categoryEnd: 8,
  /** 1 when white space stands between the record's tokens. */
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

/** Where memory holds what a scan of records found, its rows, in words, and the text, in bytes. */
const foundAt = 4;
const rowsAt = 512;
const textAt = 65536;

export interface Records {
  /** `incomplete`, below it not JSON, otherwise one of `endings`. */
  readonly result: number;
  /** `row.size` words for each record. */
  readonly rows: Int32Array;
  /** Behind the last byte that was taken in. */
  readonly done: number;
  readonly expects: Expects;
}

/** What is used of it: TypeScript knows it only together with the browser. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Module };
};

const { memory, ...scan } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(scanWasm, 'base64')),
  {
    // The name of the file that asks for it.
    text: {
      noMemory() {
        throw new RangeError('Cannot grow Wasm memory');
      },
    },
  },
).exports;

let bytes = new Uint8Array(memory.buffer);
let words = new Int32Array(memory.buffer);

/** Views of memory end when it grows, as every scan may let it. */
function look(): void {
  if (bytes.length > 0) return;
  bytes = new Uint8Array(memory.buffer);
  words = new Int32Array(memory.buffer);
}

/**
 * Finds where JSON values end and checks their grammar on the way (RFC 8259; UTF-8 is the caller's to check, natively
 * and for many records at once). Notes where an object's own `id`, `createdAt` and `category` lie. There is one text at
 * a time: `load` it and scan it in one go.
 */
export const scanner = {
  load(buf: Uint8Array): void {
    scan.reserve(buf.length);
    look();
    bytes.set(buf, textAt);
  },

  /** `start` is on the value's first byte. Behind its last one, or `incomplete`, or below. */
  valueEnd: (start: number): number => scan.value(start),

  /** Of the value that `valueEnd` scanned last. */
  lastRow(): Int32Array {
    look();
    return words.slice(rowsAt, rowsAt + row.size);
  },

  /** The records of an array from `from` on, as far as they are complete and there is room for rows. */
  records(from: number, expecting: Expects): Records {
    const result = scan.records(from, expecting);
    look();
    const rows = words.slice(rowsAt, rowsAt + (words[foundAt] as number) * row.size);
    return {
      result,
      rows,
      done: words[foundAt + 1] as number,
      expects: words[foundAt + 2] as Expects,
    };
  },
};
