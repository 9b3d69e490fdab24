import { scanWasm } from './scan.wasm.ts';

// The numbers of this file, down to textAt, are repeated in wasm/: change both, and run .config/wasm.mjs.

/** The result of a scan that needs more bytes to find the end of a value. */
export const incomplete = -1;

/** Returns the result for a byte that is not JSON: it is below `incomplete`, and holds the position of the byte. */
export const invalidAt = (offset: number): number => -2 - offset;
export const unexpectedAt = (result: number): number => -2 - result;

/** The part of an array of records that a scan meets next; `nothing` after the closing bracket. */
export const expects = { firstRecord: 0, nextRecord: 1, separator: 2, nothing: 3 } as const;
export type Expects = (typeof expects)[keyof typeof expects];

/**
 * How a scan of records ends where no value is invalid or incomplete. `arrayEnded`: at the closing bracket.
 * `rowsFull`: call again from `done`. `noObject`: an element of the array is no object.
 */
export const endings = { arrayEnded: 0, rowsFull: 1, noObject: 2 } as const;

/**
 * `plain`: a string without escapes, or an integer. `escaped`: a string with a backslash. `unusable`: empty, or
 * no string and no integer. `repeated`: the key comes twice.
 */
export const idKinds = { missing: 0, plain: 1, escaped: 2, unusable: 3, repeated: 4 } as const;

/**
 * A row holds positions of a record in the text as 32-bit words: 0 and 0 where the object has no such key. Those
 * of the id are without the quotes of a string, those of other values with them. `spaced` is 1 where white
 * space stands between tokens, so that the record is not compact.
 */
export const row = {
  start: 0,
  end: 1,
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

interface WasmExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  reserve(length: number): void;
  value(start: number): number;
  records(from: number, expecting: number): number;
}

/** Places in the memory, as `wasm/scan.ts` lists them: word indexes, and the byte index of the text. */
const rowCountAt = 4;
const doneAt = 5;
const expectsAt = 6;
const rowsAt = 512;
const textAt = 65536;

/**
 * `result` is a member of `endings`, `incomplete`, or lower for a text that is not JSON. `rows` has `row.size` words
 * for each record. `done` is the position after the last byte that belongs to a complete record or a separator,
 * where `expects` comes next.
 */
interface RecordsScan {
  readonly result: number;
  readonly rows: Int32Array;
  readonly done: number;
  readonly expects: Expects;
}

/** TypeScript declares these only together with the browser's API. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: WasmExports };
};

const { memory, ...scan } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(scanWasm, 'base64')),
  {
    // The name of the AssemblyScript file that declares the import.
    text: {
      noMemory(): never {
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
 * many records at once. Keeps the positions of `id`, `createdAt` and `category` of an object in its row. It
 * holds one text at a time: load no other before its scan is complete.
 */
export const scanner = {
  load(buf: Uint8Array): void {
    scan.reserve(buf.length);
    refreshViews();
    bytes.set(buf, textAt);
  },

  /** Returns the position after the value at `start`, `incomplete`, or a lower result for a text that is not JSON. */
  valueEnd: (start: number): number => scan.value(start),

  /** Returns the row of the object that `valueEnd` was last called for. */
  lastRow(): Int32Array {
    refreshViews();
    return words.slice(rowsAt, rowsAt + row.size);
  },

  /** Loads a text, and returns the row of the valid object at `start`. */
  rowOf(json: Uint8Array, start = 0): Int32Array {
    scanner.load(json);
    scanner.valueEnd(start);
    return scanner.lastRow();
  },

  records(from: number, expecting: Expects): RecordsScan {
    const result = scan.records(from, expecting);
    refreshViews();
    const rowCount = words[rowCountAt] as number;
    return {
      result,
      rows: words.slice(rowsAt, rowsAt + rowCount * row.size),
      done: words[doneAt] as number,
      expects: words[expectsAt] as Expects,
    };
  },
};
