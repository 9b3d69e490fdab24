// The text of a scan in memory, and its bytes. Behind the text stands a zero byte, which no token of JSON can pass:
// nothing but `invalidAt` and a number has to look where the text ends.

export const text: usize = 65536;
/** Sixteen bytes are read at once, also where the text ends. */
const slack = 16;

/** More bytes are needed. What is below it says where a byte is that is not JSON: `-2 - at`. */
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

/** Length of the text. */
export let limit = 0;
/** Whether white space was passed since `forgetSpace`. */
export let spaced = false;

/** Makes room for a text of this many bytes, which is to be written there next. Where the memory behind it begins. */
export function makeRoom(length: i32): usize {
  limit = length;
  growTo(text + length + slack);
  store<u8>(text + length, 0);
  return text + length + slack;
}

export function growTo(end: usize): void {
  const missing = <i32>((end + 0xffff) >> 16) - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) noMemory();
}

/** Of `src/lead/scanner.ts`. It throws: a trap of WebAssembly's own would not say why. */
declare function noMemory(): void;

export function invalidAt(at: i32): i32 {
  return at == limit ? incomplete : -2 - at;
}

export function byteAt(at: i32): i32 {
  return load<u8>(at, text);
}

export function forgetSpace(): void {
  spaced = false;
}

export function pastSpace(at: i32): i32 {
  let i = at;
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
