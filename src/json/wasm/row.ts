import { backslash, byteAt, isDigit, minus, quote, text } from './text';
import { hasEscapes, hexValue, letterU } from './scalar';

/** Keys with escapes are decoded at this address, if they are no longer than this. */
const scratch: usize = 1024;
const longestDecoded = 16;

// The kinds of an object's `id`, as in `src/json/scanner.ts`.
const missing = 0;
const plain = 1;
const escaped = 2;
const unusable = 3;
const repeated = 4;

export const otherField = 0;
const id = 1;
const createdAt = 2;
const category = 3;

/** The positions of a record and of three of its fields, as `row` in `src/json/scanner.ts` describes them. */
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

/** Writes the position of the value of a field into the row. The value must be what was scanned last. */
export function setField(row: Row, field: i32, start: i32, end: i32): void {
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
  if (byteAt(start) == quote) {
    if (hasEscapes) return escaped;
    const isEmpty = end - start == 2;
    return isEmpty ? unusable : plain;
  }
  for (let i = byteAt(start) == minus ? start + 1 : start; i < end; i += 1) {
    if (!isDigit(byteAt(i))) return unusable;
  }
  return plain;
}

/** Returns the field that a key names, whose position is without quotes. The key must be the string scanned last. */
export function fieldAt(start: i32, end: i32): i32 {
  if (hasEscapes) return fieldNamed(scratch, unescaped(start, end));
  return fieldNamed(text + start, end - start);
}

/** Letters in a number, of which the first is the lowest byte. */
const idLetters: u16 = 0x6469;
const categoryLetters: u64 = 0x79726f6765746163;
const createdALetters: u64 = 0x4164657461657263;
const letterT = 0x74;

function fieldNamed(name: usize, length: i32): i32 {
  if (length == 2 && load<u16>(name) == idLetters) return id;
  if (length == 8 && load<u64>(name) == categoryLetters) return category;
  if (length == 9 && load<u64>(name) == createdALetters && load<u8>(name, 8) == letterT) return createdAt;
  return otherField;
}

/**
 * Decodes a key such as `\u0069d` to `scratch`, and returns its length; 0 for a key that is long, not ASCII, or
 * has another escape, because it cannot be the name of a field.
 */
function unescaped(start: i32, end: i32): i32 {
  let length = 0;
  for (let i = start; i < end; i += 1) {
    let character = byteAt(i);
    if (character == backslash) {
      if (byteAt(i + 1) != letterU) return 0;
      character = 0;
      for (let digit = i + 2; digit < i + 6; digit += 1)
        character = (character << 4) | hexValue(byteAt(digit));
      i += 5;
    }
    if (character >= 0x80 || length == longestDecoded) return 0;
    store<u8>(scratch + length, character);
    length += 1;
  }
  return length;
}
