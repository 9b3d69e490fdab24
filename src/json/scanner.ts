import { scanWasm } from './scan.wasm.ts';

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
