import { pastString } from './scalar';
import { byteAt, closeBrace, closeBracket, colon, openBrace, openBracket, quote, text } from './text';

/**
 * The same number for compact objects with the same members, nested in the same way, of which the same are null: it is made
 * of the keys, brackets and braces, and of the `n` of null. Of the text that was written last, which is valid.
 */
export function shape(end: i32): f64 {
  let keys: u64 = 17;
  let marks: u64 = 17;
  let i = 0;
  while (i < end) {
    const byte = byteAt(i);
    if (byte == quote) {
      const start = i + 1;
      i = pastString(start);
      if (byteAt(i) != colon) continue;
      // Where a key stands is a part of the shape.
      keys = withKey(keys ^ marks, start, i - 1);
    } else {
      if (
        byte == openBrace ||
        byte == closeBrace ||
        byte == openBracket ||
        byte == closeBracket ||
        byte == 0x6e
      ) {
        marks = (marks ^ byte) * 0x100000001b3;
      }
      i += 1;
    }
  }
  // A double loses none of 53 bits.
  return <f64>(mixed(keys ^ marks) >> 11);
}

function withKey(hash: u64, start: i32, end: i32): u64 {
  let mixture = hash ^ (end - start);
  let i = start;
  for (; i + 8 <= end; i += 8) mixture = mixed(mixture ^ load<u64>(i, text));
  let rest: u64 = 0;
  for (; i < end; i += 1) rest = (rest << 8) | byteAt(i);
  return mixed(mixture ^ rest);
}

function mixed(word: u64): u64 {
  const product = word * 0x9e3779b97f4a7c15;
  return product ^ (product >> 29);
}
