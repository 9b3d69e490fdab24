/*
 * This is AssemblyScript, a strict subset of TypeScript that compiles to WebAssembly: JavaScript reads one
 * byte at a time and checks every index, but here sixteen bytes of a string are compared at once.
 * `src/json/scanner.ts` calls it, and reads its results in the memory, whose addresses in bytes are:
 *
 *     16       the result of `records`
 *     1024     a key without its escapes
 *     2048     the rows: 1024 of 40 bytes each
 *     65536    the text; after it a zero byte, and the kinds of the open containers
 */

import { Row } from './row';
import { byteAt, closeBracket, comma, invalidAt, openBrace, pastSpace } from './text';
import { scanValue } from './value';

export { reserve } from './value';

const firstRow: usize = 2048;
const maxRows = 1024;

const arrayEnded = 0;
const rowsFull = 1;
const noObject = 2;

const firstRecord = 0;
const nextRecord = 1;
const separator = 2;
const nothing = 3;

@unmanaged
class ScanResult {
  rowCount: i32;
  done: i32;
  expects: i32;
}
const scanResult = changetype<ScanResult>(16);

/** Scans one value from its first byte and fills row 0. Returns the position after it, or a negative result. */
export function value(start: i32): i32 {
  return scanValue(start, changetype<Row>(firstRow));
}

/**
 * Scans the records of an array until one is not complete or not valid, the array ends, or there is no row
 * left. Returns `arrayEnded`, `rowsFull`, `noObject`, or a negative result. Writes the rows, and in
 * `scanResult` their number, the position after the last byte that was taken, and what is expected there.
 */
export function records(from: i32, expecting: i32): i32 {
  let i = from;
  let expects = expecting;
  let rowCount = 0;
  let result = rowsFull;
  scanResult.done = from;
  while (rowCount < maxRows) {
    i = pastSpace(i);
    const byte = byteAt(i);
    if (byte == closeBracket && (expects == separator || expects == firstRecord)) {
      expects = nothing;
      scanResult.done = i + 1;
      result = arrayEnded;
      break;
    }
    if (expects == separator) {
      if (byte != comma) {
        result = invalidAt(i);
        break;
      }
      expects = nextRecord;
      i += 1;
      scanResult.done = i;
      continue;
    }
    const end = scanValue(i, changetype<Row>(firstRow + rowCount * offsetof<Row>()));
    if (end < 0) {
      result = end;
      break;
    }
    if (byte != openBrace) {
      result = noObject;
      break;
    }
    i = end;
    rowCount += 1;
    expects = separator;
    scanResult.done = i;
  }
  scanResult.rowCount = rowCount;
  scanResult.expects = expects;
  return result;
}
