import { backslash, byteAt, isDigit, minus, quote, text } from './text';
import { hasEscapes, hexValue } from './scalar';

/** Keys with escapes are decoded at this address. */
const scratch: usize = 1024;

// The kinds of an object's `id`, as in `src/json/scanner.ts`.
const missing = 0;
const asItStands = 1;
const escaped = 2;
const unusable = 3;
const repeated = 4;

export const otherField = 0;
const id = 1;
const createdAt = 2;
const category = 3;

/**
 * Positions in the text of a record, of the content of its id, and of two values; a missing one
 * has 0 and 0.
 */
@unmanaged
export class Row {
  start: i32;
  end: i32;
  idStart: i32;
  idEnd: i32;
  idKind: i32;
  createdStart: i32;
  createdEnd: i32;
  categoryStart: i32;
  categoryEnd: i32;
  spaced: i32;
}

export function note(row: Row, field: i32, start: i32, end: i32): void {
  if (field == createdAt) {
    row.createdStart = start;
    row.createdEnd = end;
  } else if (field == category) {
    row.categoryStart = start;
    row.categoryEnd = end;
  } else {
    row.idKind = row.idKind == missing ? idKind(start, end) : repeated;
    const inner = byteAt(start) == quote ? 1 : 0;
    row.idStart = start + inner;
    row.idEnd = end - inner;
  }
}

function idKind(start: i32, end: i32): i32 {
  if (byteAt(start) == quote) return hasEscapes ? escaped : end - start > 2 ? asItStands : unusable;
  for (let i = byteAt(start) == minus ? start + 1 : start; i < end; i += 1) {
    if (!isDigit(byteAt(i))) return unusable;
  }
  return asItStands;
}

/**
 * Returns the field that a key names; its position is without quotes. It must be the string that was scanned
 * last.
 */
export function fieldAt(start: i32, end: i32): i32 {
  if (hasEscapes) return fieldNamed(scratch, unescaped(start, end));
  return fieldNamed(text + start, end - start);
}

function fieldNamed(name: usize, length: i32): i32 {
  if (length == 2 && load<u16>(name) == 0x6469) return id;
  if (length == 8 && load<u64>(name) == 0x79726f6765746163) return category;
  if (length == 9 && load<u64>(name) == 0x4164657461657263 && load<u8>(name, 8) == 0x74) return createdAt;
  return otherField;
}

/** Decodes a key to `scratch` if it is short and ASCII, and returns its length; `"\u0069d"` is `id`. */
function unescaped(start: i32, end: i32): i32 {
  let length = 0;
  for (let i = start; i < end; i += 1) {
    let character = byteAt(i);
    if (character == backslash) {
      if (byteAt(i + 1) != 0x75) return 0;
      character = 0;
      for (let digit = i + 2; digit < i + 6; digit += 1)
        character = (character << 4) | hexValue(byteAt(digit));
      i += 5;
    }
    if (character >= 0x80 || length == 16) return 0;
    store<u8>(scratch + length, character);
    length += 1;
  }
  return length;
}
