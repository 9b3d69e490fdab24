// AssemblyScript, a strict subset of TypeScript that compiles to WebAssembly: a scan of JSON in JavaScript reads one byte
// at a time and checks every index; here sixteen bytes of a string are compared at once. `src/json/scanner.ts` calls it.
// Memory contains what a scan of records found, the rows, and from `text` on the text.

import { Row } from './row';
import { byteAt, closeBracket, comma, invalidAt, openBrace, pastSpace } from './text';
import { scanValue } from './value';

export { reserve } from './value';

const firstRow: usize = 2048;
const mostRows = 1024;

// How a scan of records ended, if its result is not negative.
const ended = 0;
const rowsFull = 1;
const noObject = 2;

// What an array of records expects next.
const firstRecord = 0;
const nextRecord = 1;
const separator = 2;
const nothing = 3;

@unmanaged
class Found {
  rows: i32;
  /** The position after the last byte that belongs to a record or a separator. */
  done: i32;
  expects: i32;
}
const found = changetype<Found>(16);

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
  found.done = from;
  while (rows < mostRows) {
    i = pastSpace(i);
    const byte = byteAt(i);
    if (byte == closeBracket && (expects == separator || expects == firstRecord)) {
      expects = nothing;
      found.done = i + 1;
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
      found.done = i;
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
    found.done = i;
  }
  found.rows = rows;
  found.expects = expects;
  return end;
}
