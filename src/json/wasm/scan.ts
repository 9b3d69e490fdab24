// This is AssemblyScript, a strict subset of TypeScript that compiles to WebAssembly: JavaScript reads one
// byte at a time and checks every index, but here sixteen bytes of a string are compared at once.
// `src/json/scanner.ts` calls it. The memory holds the result of a scan of records, the rows, and the text at
// `text`.

import { Row } from './row';
import { byteAt, closeBracket, comma, invalidAt, openBrace, pastSpace } from './text';
import { scanValue } from './value';

export { reserve } from './value';

const firstRow: usize = 2048;
const mostRows = 1024;

const ended = 0;
const rowsFull = 1;
const noObject = 2;

const firstRecord = 0;
const nextRecord = 1;
const separator = 2;
const nothing = 3;

@unmanaged
class ScanResult {
  rows: i32;
  done: i32;
  expects: i32;
}
const scanResult = changetype<ScanResult>(16);

/** Scans one value from its first byte and fills row 0. Returns the position after it, or a negative result. */
export function value(start: i32): i32 {
  return scanValue(start, changetype<Row>(firstRow));
}

/** Scans the records of an array until one is not complete, the array ends, or there is no row left. */
export function records(from: i32, expecting: i32): i32 {
  let i = from;
  let expects = expecting;
  let rows = 0;
  let end = rowsFull;
  scanResult.done = from;
  while (rows < mostRows) {
    i = pastSpace(i);
    const byte = byteAt(i);
    if (byte == closeBracket && (expects == separator || expects == firstRecord)) {
      expects = nothing;
      scanResult.done = i + 1;
      end = ended;
      break;
    }
    if (expects == separator) {
      if (byte != comma) {
        end = invalidAt(i);
        break;
      }
      expects = nextRecord;
      i += 1;
      scanResult.done = i;
      continue;
    }
    end = scanValue(i, changetype<Row>(firstRow + rows * offsetof<Row>()));
    if (end < 0) break;
    if (byte != openBrace) {
      end = noObject;
      break;
    }
    i = end;
    end = rowsFull;
    rows += 1;
    expects = separator;
    scanResult.done = i;
  }
  scanResult.rows = rows;
  scanResult.expects = expects;
  return end;
}
