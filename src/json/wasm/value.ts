import { fieldAt, otherField, Row, setField } from './row';
import {
  byteAt,
  closeBrace,
  closeBracket,
  colon,
  comma,
  forgetSpace,
  growTo,
  invalidAt,
  makeRoom,
  openBrace,
  openBracket,
  pastSpace,
  quote,
  spaced,
} from './text';
import { pastScalar, pastString } from './scalar';

/**
 * The address of the kinds of the open containers, one byte each. They are in memory, so that no depth
 * overflows a stack.
 */
let nesting: usize = 0;
/** The field of the outermost object whose value is scanned now. */
let field = otherField;

export function reserve(length: i32): void {
  nesting = makeRoom(length);
}

/**
 * Checks the grammar of one value (RFC 8259; the caller checks UTF-8) and fills its row. Returns the position
 * after it, or a negative result. The outer loop is at the start of a value, the inner one at its end.
 */
export function scanValue(start: i32, row: Row): i32 {
  memory.fill(changetype<usize>(row), 0, offsetof<Row>());
  forgetSpace();
  field = otherField;
  let depth = 0;
  let inObject = false;
  let valueStart = start;
  let i = start;
  while (true) {
    i = pastSpace(i);
    const byte = byteAt(i);
    if (depth == 1) valueStart = i;
    if (byte == openBrace || byte == openBracket) {
      setInObject(depth, inObject);
      depth += 1;
      inObject = byte == openBrace;
      i = pastSpace(i + 1);
      if (byteAt(i) != (inObject ? closeBrace : closeBracket)) {
        if (inObject) {
          i = pastKey(i, depth);
          if (i < 0) return i;
        }
        continue;
      }
      i += 1;
      depth -= 1;
      inObject = wasInObject(depth);
    } else {
      i = pastScalar(i);
      if (i < 0) return i;
    }
    // A value has ended: find the start of the next one, after every container that ends with it.
    while (true) {
      if (depth == 0) {
        row.start = start;
        row.end = i;
        row.spaced = spaced ? 1 : 0;
        return i;
      }
      if (depth == 1 && field != otherField) {
        setField(row, field, valueStart, i);
        field = otherField;
      }
      i = pastSpace(i);
      if (byteAt(i) == comma) {
        i += 1;
        if (inObject) {
          i = pastKey(pastSpace(i), depth);
          if (i < 0) return i;
        }
        break;
      }
      if (byteAt(i) != (inObject ? closeBrace : closeBracket)) return invalidAt(i);
      i += 1;
      depth -= 1;
      inObject = wasInObject(depth);
    }
  }
}

function pastKey(offset: i32, depth: i32): i32 {
  if (byteAt(offset) != quote) return invalidAt(offset);
  const end = pastString(offset + 1);
  if (end < 0) return end;
  if (depth == 1) field = fieldAt(offset + 1, end - 1);
  const i = pastSpace(end);
  return byteAt(i) == colon ? i + 1 : invalidAt(i);
}

function setInObject(depth: i32, inObject: bool): void {
  growTo(nesting + depth + 1);
  store<bool>(nesting + depth, inObject);
}

function wasInObject(depth: i32): bool {
  return load<bool>(nesting + depth);
}
