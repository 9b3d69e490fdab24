import { backslash, byteAt, incomplete, invalidAt, isDigit, limit, minus, quote, text, zero } from './text';

export let hasEscapes = false;

/** Returns the position after a string, a number, `true`, `false` or `null`; `offset` is its first byte. */
export function pastScalar(offset: i32): i32 {
  const byte = byteAt(offset);
  if (byte == quote) return pastString(offset + 1);
  if (byte == minus || isDigit(byte)) return pastNumber(offset);
  if (byte == 0x74) return pastWord(offset, 0x65757274, 4);
  if (byte == 0x66) return pastWord(offset, 0x65736c6166, 5);
  if (byte == 0x6e) return pastWord(offset, 0x6c6c756e, 4);
  return invalidAt(offset);
}

/** `offset` is the position after the opening quote. */
export function pastString(offset: i32): i32 {
  hasEscapes = false;
  let i = offset;
  while (true) {
    const some = v128.load(i, text);
    // Control characters are not allowed in a string (RFC 8259, section 7).
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(some, i8x16.splat(<i8>quote)), i8x16.eq(some, i8x16.splat(<i8>backslash))),
        i8x16.lt_u(some, i8x16.splat(0x20)),
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
    if (byte == 0x75) {
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
  if (byteAt(i) == 0x2e) {
    i += 1;
    if (!isDigit(byteAt(i))) return invalidAt(i);
    i = pastDigits(i);
  }
  if ((byteAt(i) | 0x20) == 0x65) {
    i += 1;
    if (byteAt(i) == 0x2b || byteAt(i) == minus) i += 1;
    if (!isDigit(byteAt(i))) return invalidAt(i);
    i = pastDigits(i);
  }
  return i == limit ? incomplete : i;
}

function pastDigits(offset: i32): i32 {
  let i = offset;
  while (isDigit(byteAt(i))) i += 1;
  return i;
}

/** `letters` has the first letter of the word in its lowest byte. */
function pastWord(offset: i32, letters: u64, length: i32): i32 {
  for (let i = 1; i < length; i += 1) {
    if (byteAt(offset + i) != <i32>((letters >> (i * 8)) & 0xff)) return invalidAt(offset + i);
  }
  return offset + length;
}

function isHex(byte: i32): bool {
  return isDigit(byte) || <u32>((byte | 0x20) - 0x61) < 6;
}

export function hexValue(byte: i32): i32 {
  return isDigit(byte) ? byte - zero : (byte | 0x20) - 0x61 + 10;
}

function isEscapable(byte: i32): bool {
  return (
    byte == quote ||
    byte == backslash ||
    byte == 0x2f ||
    byte == 0x62 ||
    byte == 0x66 ||
    byte == 0x6e ||
    byte == 0x72 ||
    byte == 0x74
  );
}
