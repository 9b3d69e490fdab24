import { backslash, byteAt, incomplete, invalidAt, isDigit, minus, quote, text, textEnd, zero } from './text';

/** Whether the string that was scanned last has escapes. */
export let hasEscapes = false;

/** Letters in a number, of which the first is the lowest byte. */
const trueWord: u64 = 0x65757274;
const falseWord: u64 = 0x65736c6166;
const nullWord: u64 = 0x6c6c756e;
const lowestByte = 0xff;

const slash = 0x2f;
const letterA = 0x61;
const letterE = 0x65;
export const letterU = 0x75;
const dot = 0x2e;
const plus = 0x2b;
const lowerCaseBit = 0x20;

/** Returns the position after a string, a number, `true`, `false` or `null`; `offset` is its first byte. */
export function pastScalar(offset: i32): i32 {
  const byte = byteAt(offset);
  if (byte == quote) return pastString(offset + 1);
  if (byte == minus || isDigit(byte)) return pastNumber(offset);
  if (byte == <i32>(trueWord & lowestByte)) return pastWord(offset, trueWord, 4);
  if (byte == <i32>(falseWord & lowestByte)) return pastWord(offset, falseWord, 5);
  if (byte == <i32>(nullWord & lowestByte)) return pastWord(offset, nullWord, 4);
  return invalidAt(offset);
}

/** `offset` is the position after the opening quote. */
export function pastString(offset: i32): i32 {
  hasEscapes = false;
  let i = offset;
  while (true) {
    const bytes = v128.load(i, text);
    // A bit for each quote, backslash and control character, which no string may hold (RFC 8259, section 7).
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, i8x16.splat(<i8>quote)), i8x16.eq(bytes, i8x16.splat(<i8>backslash))),
        i8x16.lt_u(bytes, i8x16.splat(0x20)),
      ),
    );
    if (special == 0) {
      i += 16;
      continue;
    }
    i += ctz(special);
    if (byteAt(i) == quote) return i + 1;
    if (byteAt(i) != backslash) return invalidAt(i);
    hasEscapes = true;
    i += 1;
    const byte = byteAt(i);
    if (byte == letterU) {
      for (const end = i + 4; i < end;) {
        i += 1;
        if (!isHex(byteAt(i))) return invalidAt(i);
      }
    } else if (!isEscapable(byte)) {
      return invalidAt(i);
    }
    i += 1;
  }
}

/** A number at the end of the text is incomplete: another digit may follow. */
function pastNumber(offset: i32): i32 {
  let i = byteAt(offset) == minus ? offset + 1 : offset;
  if (!isDigit(byteAt(i))) return invalidAt(i);
  i = byteAt(i) == zero ? i + 1 : pastDigits(i);
  if (byteAt(i) == dot) {
    i += 1;
    if (!isDigit(byteAt(i))) return invalidAt(i);
    i = pastDigits(i);
  }
  if ((byteAt(i) | lowerCaseBit) == letterE) {
    i += 1;
    if (byteAt(i) == plus || byteAt(i) == minus) i += 1;
    if (!isDigit(byteAt(i))) return invalidAt(i);
    i = pastDigits(i);
  }
  return i == textEnd ? incomplete : i;
}

function pastDigits(offset: i32): i32 {
  let i = offset;
  while (isDigit(byteAt(i))) i += 1;
  return i;
}

function pastWord(offset: i32, word: u64, length: i32): i32 {
  for (let i = 1; i < length; i += 1) {
    if (byteAt(offset + i) != <i32>((word >> (i * 8)) & lowestByte)) return invalidAt(offset + i);
  }
  return offset + length;
}

function isHex(byte: i32): bool {
  return isDigit(byte) || <u32>((byte | lowerCaseBit) - letterA) < 6;
}

export function hexValue(byte: i32): i32 {
  return isDigit(byte) ? byte - zero : (byte | lowerCaseBit) - letterA + 10;
}

function isEscapable(byte: i32): bool {
  // The letters b, f, n, r and t.
  const isLetter = byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74;
  return isLetter || byte == quote || byte == backslash || byte == slash;
}
