/*
 * The text of a scan in memory, and its bytes. A zero byte follows the text, which ends every token of JSON: only
 * `invalidAt` and numbers have to compare with the end of the text.
 */

export const text: usize = 65536;
/** Sixteen bytes are read at once, also at the end of the text. */
const slack = 16;
const pageSize = 0x10000;

/** A result: more bytes are needed. A lower result is `-2 - offset` for a byte that is not JSON. */
export const incomplete = -1;

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const minus = 0x2d;
export const zero = 0x30;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

export let textEnd = 0;
/** Whether white space was skipped since `forgetSpace`. */
export let spaced = false;

/** Reserves memory for a text of `length` bytes, which the caller writes next. Returns the address after it. */
export function makeRoom(length: i32): usize {
  textEnd = length;
  growTo(text + length + slack);
  store<u8>(text + length, 0);
  return text + length + slack;
}

export function growTo(end: usize): void {
  const missing = <i32>((end + pageSize - 1) / pageSize) - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) noMemory();
}

/** `src/json/scanner.ts` defines it. It throws, because a trap of WebAssembly has no message. */
declare function noMemory(): void;

export function invalidAt(offset: i32): i32 {
  return offset == textEnd ? incomplete : -2 - offset;
}

export function byteAt(offset: i32): i32 {
  return load<u8>(offset, text);
}

export function forgetSpace(): void {
  spaced = false;
}

export function pastSpace(offset: i32): i32 {
  let i = offset;
  while (byteAt(i) <= 0x20 && isSpace(byteAt(i))) {
    spaced = true;
    i += 1;
  }
  return i;
}

function isSpace(byte: i32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

export function isDigit(byte: i32): bool {
  return <u32>(byte - zero) < 10;
}
